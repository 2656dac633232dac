package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;

/** Captures the processes named in its arguments for ever; killed by {@link TracerDeathTest}. */
final class CaptureLoop {
    private CaptureLoop() {}

    public static void main(String[] arguments) {
        List<CaptureRequest.Root> roots = new ArrayList<>();
        for (String argument : arguments) {
            roots.add(new CaptureRequest.Root(roots.size(), Integer.parseInt(argument)));
        }
        CaptureRequest request = new CaptureRequest(roots, CaptureRequest.StandardStreams.NONE);
        for (int round = 0;; round++) {
            try (Capture capture = Capture.take(request)) {
                if (round == 0) {
                    System.out.println("warm");
                }
            }
        }
    }
}
