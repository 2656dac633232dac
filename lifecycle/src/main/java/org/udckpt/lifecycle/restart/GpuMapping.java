package org.udckpt.lifecycle.restart;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.process.cuda.GpuPair;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** On which GPU of this host each GPU of the checkpoint comes back. */
final class GpuMapping {
    private GpuMapping() {}

    /** What {@code --map-gpu} says: new UUIDs by old ones. @throws Failure 64 where it is none */
    static Map<String, String> wanted(Settings settings) {
        Map<String, String> wanted = new LinkedHashMap<>();
        for (String pair : settings.text(Option.MAP_GPU).split(",")) {
            String[] words = pair.split("=", 2);
            if (pair.isEmpty()) {
                continue;
            }
            if (words.length != 2 || !Gpu.isUuid(words[0]) || !Gpu.isUuid(words[1])
                    || wanted.put(words[0], words[1]) != null) {
                throw settings.bad(Option.MAP_GPU,
                        "OLD=NEW with UUIDs of GPUs, as 'udckpt inspect' and 'nvidia-smi -L' "
                                + "print them, and each OLD once");
            }
        }
        return wanted;
    }

    /**
     * Each GPU comes back on the one that was asked for, else on itself, else on the first one of its kind that is
     * left. The driver does not say which of them a process used: so all of them need a place.
     *
     * @param before at the checkpoint
     * @param here of this host
     * @return empty: each is where it was
     * @throws Failure 69 where there is none of its kind, or one with too little memory
     */
    static List<GpuPair> of(List<Gpu> before, List<Gpu> here, Map<String, String> wanted) {
        Map<String, Gpu> byUuid = new LinkedHashMap<>();
        here.forEach(gpu -> byUuid.put(gpu.uuid(), gpu));
        Map<String, Gpu> chosen = new LinkedHashMap<>();
        Set<String> taken = new HashSet<>();
        for (Gpu gpu : before) {
            Gpu same = byUuid.get(wanted.getOrDefault(gpu.uuid(), gpu.uuid()));
            if (wanted.containsKey(gpu.uuid()) && same == null) {
                throw refusal(gpu, "--map-gpu names " + wanted.get(gpu.uuid()) + ", which this host has not", here);
            }
            if (same != null) {
                require(gpu, same, here);
                if (!taken.add(same.uuid())) {
                    throw refusal(gpu, same.uuid() + " is another one's already", here);
                }
                chosen.put(gpu.uuid(), same);
            }
        }
        for (Gpu gpu : before) {
            if (!chosen.containsKey(gpu.uuid())) {
                Gpu left = firstLeft(gpu, here, taken);
                taken.add(left.uuid());
                chosen.put(gpu.uuid(), left);
            }
        }
        List<GpuPair> pairs = new ArrayList<>();
        chosen.forEach((old, gpu) -> pairs.add(new GpuPair(old, gpu.uuid())));
        return pairs.stream().allMatch(pair -> pair.before().equals(pair.after())) ? List.of() : pairs;
    }

    private static Gpu firstLeft(Gpu gpu, List<Gpu> here, Set<String> taken) {
        List<Gpu> left = here.stream().filter(one -> !taken.contains(one.uuid()) && one.name().equals(gpu.name()))
                .toList();
        return left.stream().filter(one -> one.memory() >= gpu.memory()).findFirst().orElseThrow(() -> refusal(gpu,
                left.isEmpty() ? "no GPU of this kind is left" : "those of its kind have less memory", here));
    }

    private static void require(Gpu gpu, Gpu place, List<Gpu> here) {
        if (!place.name().equals(gpu.name())) {
            throw refusal(gpu, place.uuid() + " is of another kind", here);
        }
        if (place.memory() < gpu.memory()) {
            throw refusal(gpu, place.uuid() + " has less memory", here);
        }
    }

    private static Failure refusal(Gpu gpu, String why, List<Gpu> here) {
        return new Failure(ExitCode.UNSUPPORTED, "the job used " + text(gpu) + ": " + why + "; here are "
                + (here.isEmpty() ? "none" : String.join(", ", here.stream().map(GpuMapping::text).toList()))
                + "; restart it where the GPUs are of the same kind (--map-gpu OLD=NEW chooses one)");
    }

    private static String text(Gpu gpu) {
        return gpu.name() + " with " + Durations.bytes(gpu.memory()) + " (" + gpu.uuid() + ")";
    }
}
