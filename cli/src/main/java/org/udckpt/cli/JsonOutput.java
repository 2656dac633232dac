package org.udckpt.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * What the verbs print with {@code --json}: one document on standard output, whose first member is its schema's number.
 */
final class JsonOutput {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int SCHEMA = 1;

    private JsonOutput() {}

    static ObjectNode document() {
        return JSON.createObjectNode().put("schema", SCHEMA);
    }

    static ObjectNode object() {
        return JSON.createObjectNode();
    }

    static void print(JsonNode document) {
        try {
            System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(document));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // a tree always serialises
        }
    }
}
