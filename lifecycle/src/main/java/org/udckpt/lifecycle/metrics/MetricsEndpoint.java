package org.udckpt.lifecycle.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** Answers {@code GET /metrics}. Whoever can reach the address may ask; nothing can be changed by it. */
public final class MetricsEndpoint implements AutoCloseable {
    private static final Pattern FORM = Pattern.compile("(?:(?<address>[^:\\[\\]]+|\\[[^\\]]+\\]):)?(?<port>\\d{1,5})");
    private static final int MOST_PORT = 65535;
    private static final int METHOD_NOT_ALLOWED = 405, OK = 200;

    /**
     * Of the JDK's server, which has none by itself: whoever connects and says nothing must not take the agent's
     * descriptors. Seconds, connections.
     */
    private static final Map<String, String> LIMITS = Map.of("sun.net.httpserver.maxReqTime", "10",
            "sun.net.httpserver.maxRspTime", "10", "jdk.httpserver.maxConnections", "64");

    private final HttpServer server;
    private final ExecutorService threads =
            Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("metrics-", 0).factory());
    private final JobMetrics metrics;
    private final ExpositionFormatWriter openMetrics = OpenMetricsTextFormatWriter.create();
    private final ExpositionFormatWriter prometheus = PrometheusTextFormatWriter.create();

    private MetricsEndpoint(InetSocketAddress address, JobMetrics metrics) throws IOException {
        this.metrics = metrics;
        LIMITS.forEach((name, value) -> System.setProperty(name, System.getProperty(name, value)));
        this.server = HttpServer.create(address, 0);
        server.createContext("/metrics", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    /** That the address can be had, while it still may end the start of a job. @throws Failure 75 when it is taken */
    static void check(Settings settings) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(address(settings));
        } catch (IOException e) {
            throw new Failure(ExitCode.BUSY, "cannot serve metrics at " + settings.text(Option.METRICS_LISTEN) + ": "
                    + e.getMessage() + "; give another --metrics-listen (port 0: any)", e);
        }
    }

    /**
     * Empty when none is wanted, and when it cannot be had any more: the job, which may be restored already, goes on
     * without.
     */
    public static Optional<MetricsEndpoint> open(Settings settings, JobMetrics metrics) {
        if (settings.text(Option.METRICS_LISTEN).isEmpty()) {
            return Optional.empty();
        }
        try {
            MetricsEndpoint endpoint = new MetricsEndpoint(address(settings), metrics);
            InetSocketAddress bound = endpoint.server.getAddress();
            Messages.info("metrics at http://"
                    + (bound.getAddress().getAddress().length > 4 ? "[" + bound.getAddress().getHostAddress() + "]"
                            : bound.getAddress().getHostAddress())
                    + ":" + bound.getPort() + "/metrics");
            return Optional.of(endpoint);
        } catch (IOException e) {
            Messages.warn("cannot serve metrics at " + settings.text(Option.METRICS_LISTEN) + " any longer: "
                    + e.getMessage() + "; the job continues without them");
            return Optional.empty();
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
            ExpositionFormatWriter format =
                    accepted == null || openMetrics.accepts(accepted) || !accepted.contains("text/plain") ? openMetrics
                            : prometheus;
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
