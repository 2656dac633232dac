package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.udckpt.address.Endpoint;
import org.udckpt.store.OpenImage;

/** Compares the queue pairs, by what the job calls them. */
final class EndpointComparison {
    private EndpointComparison() {}

    /** By rank. */
    static List<EndpointChange> changes(OpenImage older, OpenImage newer) {
        Map<String, Endpoint> before = byVirtual(older);
        Map<String, Endpoint> after = byVirtual(newer);
        Set<String> all = new TreeSet<>(before.keySet());
        all.addAll(after.keySet());
        List<EndpointChange> changes = new ArrayList<>();
        for (String key : all) {
            Endpoint was = before.get(key);
            Endpoint is = after.get(key);
            if (was == null || is == null || !Objects.equals(was.real(), is.real())) {
                changes.add(new EndpointChange(was, is));
            }
        }
        return changes;
    }

    private static Map<String, Endpoint> byVirtual(OpenImage image) {
        Map<String, Endpoint> endpoints = new TreeMap<>();
        image.endpoints().forEach(endpoint -> endpoints
                .put("%06d %s %s".formatted(endpoint.rank(), endpoint.transport(), endpoint.virtual()), endpoint));
        return endpoints;
    }
}
