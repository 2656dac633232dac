package org.udckpt.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.udckpt.linux.RawText;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.transport.CredentialFile;
import org.udckpt.transport.JobCredential;

/**
 * A {@link NodeSpecification} on an agent's standard input: the line {@code udckpt-agent VERSION BYTES}, so many bytes
 * of JSON, and the job's credential ({@link CredentialFile}). Not a byte more is read: what follows belongs to the
 * ranks.
 *
 * @param specification what is said
 * @param credential the job's
 */
public record SpecificationText(NodeSpecification specification, JobCredential credential) {
    /** Changes with the records' components, and with what the nodes say to each other. */
    static final int VERSION = 6;
    private static final String WORD = "udckpt-agent";
    private static final int LONGEST_LINE = 64, MOST_BYTES = 64 << 20;
    /** All that is not ASCII is escaped, as the bytes must be that are no UTF-8 ({@code RawText}). */
    private static final ObjectMapper JSON = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    byte[] encode() {
        try {
            byte[] json = JSON.writeValueAsBytes(specification);
            if (json.length > MOST_BYTES) {
                throw new Failure(ExitCode.USAGE, "the job's command, environment and hosts have " + json.length
                        + " bytes; the limit is " + MOST_BYTES);
            }
            ByteArrayOutputStream all = new ByteArrayOutputStream(json.length + 2048);
            all.writeBytes("%s %d %d\n".formatted(WORD, VERSION, json.length).getBytes(StandardCharsets.US_ASCII));
            all.writeBytes(json);
            CredentialFile.write(all, credential);
            return all.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(e); // to memory, of records
        }
    }

    /** @param in unbuffered. @throws Failure for what is none, of another version, cut off or longer than it may be */
    static SpecificationText read(InputStream in) {
        try {
            String[] words = line(in).split(" ");
            if (words.length != 3 || !words[0].equals(WORD) || !words[1].matches("\\d{1,9}")
                    || !words[2].matches("\\d{1,9}")) {
                throw broken("it does not start with '" + WORD + " VERSION BYTES'; agents are started by 'udckpt run "
                        + "--starter ...', not by hand", null);
            }
            if (Integer.parseInt(words[1]) != VERSION) {
                throw new Failure(ExitCode.UNSUPPORTED, "the lead speaks version " + words[1]
                        + " to its agents, but this udckpt speaks version " + VERSION
                        + ": install the same udckpt on all hosts, or set UDCKPT_REMOTE to its path");
            }
            int length = Integer.parseInt(words[2]);
            if (length > MOST_BYTES) {
                throw broken(length + " bytes are announced; the limit is " + MOST_BYTES, null);
            }
            byte[] json = in.readNBytes(length);
            if (json.length < length) {
                throw broken("it ends after " + json.length + " of " + length + " bytes", null);
            }
            NodeSpecification specification = JSON.readValue(json, NodeSpecification.class);
            if (specification == null) {
                throw broken("it is empty", null);
            }
            return new SpecificationText(specification, CredentialFile.read(in));
        } catch (JsonProcessingException e) {
            throw broken(e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw Failure.of("reading the agent's specification", e);
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0 || line.length() == LONGEST_LINE) {
                throw broken((next < 0 ? "it ends" : "its first line is too long") + " after " + line.length()
                        + " bytes", null);
            }
            line.append((char) next);
        }
        return line.toString();
    }

    private static Failure broken(String why, Throwable cause) {
        return new Failure(ExitCode.USAGE, "standard input has no agent specification: " + why, cause);
    }
}
