package org.udckpt.job.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;

/** Answers {@code GET /metrics}. Whoever can reach the address may ask; nothing can be changed by it. */
public final class MetricsEndpoint implements AutoCloseable {
    private static final Pattern FORM = Pattern.compile("(?:(?<address>[^:\\[\\]]+|\\[[^\\]]+\\]):)?(?<port>\\d{1,5})");
    private static final int MOST_PORT = 65535;
    private static final int METHOD_NOT_ALLOWED = 405, OK = 200;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("metrics-", 0).factory());
    private final JobMetrics metrics;
    private final ExpositionFormatWriter openMetrics = OpenMetricsTextFormatWriter.create();
    private final ExpositionFormatWriter prometheus = PrometheusTextFormatWriter.create();

    private MetricsEndpoint(InetSocketAddress address, JobMetrics metrics) throws IOException {
        this.metrics = metrics;
        this.server = HttpServer.create(address, 0);
        server.createContext("/metrics", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    /** Empty when none is wanted. @throws Failure when the address is none, or cannot be had */
    public static Optional<MetricsEndpoint> open(Settings settings, JobMetrics metrics) {
        if (settings.text(Option.METRICS_LISTEN).isEmpty()) {
            return Optional.empty();
        }
        InetSocketAddress address = address(settings);
        try {
            MetricsEndpoint endpoint = new MetricsEndpoint(address, metrics);
            InetSocketAddress bound = endpoint.server.getAddress();
            Messages.info("metrics at http://" + (bound.getAddress().getAddress().length > 4 ? "[" + bound.getAddress().getHostAddress() + "]" : bound.getAddress().getHostAddress())
                    + ":" + bound.getPort() + "/metrics");
            return Optional.of(endpoint);
        } catch (IOException e) {
            throw new Failure(ExitCode.BUSY, "metrics cannot be offered at " + settings.text(Option.METRICS_LISTEN) + ": " + e.getMessage() + "; give another --metrics-listen (port 0: any)", e);
        }
    }

    static InetSocketAddress address(Settings settings) {
        Matcher matcher = FORM.matcher(settings.text(Option.METRICS_LISTEN));
        if (!matcher.matches() || Integer.parseInt(matcher.group("port")) > MOST_PORT) {
            throw settings.bad(Option.METRICS_LISTEN, "a port, ADDRESS:PORT or [ADDRESS]:PORT");
        }
        int port = Integer.parseInt(matcher.group("port"));
        try {
            return matcher.group("address") == null ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
                    : new InetSocketAddress(InetAddress.getByName(matcher.group("address")), port);
        } catch (UnknownHostException e) {
            throw settings.bad(Option.METRICS_LISTEN, "an address of this machine");
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                exchange.sendResponseHeaders(METHOD_NOT_ALLOWED, -1);
                return;
            }
            String accepted = exchange.getRequestHeaders().getFirst("Accept");
            ExpositionFormatWriter format = accepted == null || openMetrics.accepts(accepted) || !accepted.contains("text/plain") ? openMetrics : prometheus;
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            format.write(text, metrics.now());
            exchange.getResponseHeaders().set("Content-Type", format.getContentType());
            exchange.sendResponseHeaders(OK, text.size());
            exchange.getResponseBody().write(text.toByteArray());
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
