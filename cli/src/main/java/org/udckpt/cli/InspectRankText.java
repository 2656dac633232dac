package org.udckpt.cli;

import org.udckpt.inspect.view.CheckpointView;
import org.udckpt.inspect.view.KernelObjects.Named;
import org.udckpt.inspect.view.KindTotal;
import org.udckpt.inspect.view.NodeView;
import org.udckpt.inspect.view.ProcessView;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.trace.Registers;
import org.udckpt.store.ProcessChoice;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.PrintableStream;

/** {@code udckpt inspect --rank} and {@code --pid} for people: all of one rank, or of one process. */
final class InspectRankText {
    private final CheckpointView view;

    InspectRankText(CheckpointView view) {
        this.view = view;
    }

    void print(int rank) {
        NodeView node = view.nodeOf(rank);
        System.out.printf("%s%s of %s%n", node.node().processes().name(rank), view.image().place(node.node()),
                view.image().name());
        InspectText.endpoints(view.endpoints(rank));
        node.of(rank).forEach(InspectRankText::process);
    }

    void print(ProcessChoice.Chosen process) {
        System.out.printf("%s%s of %s%n", process.name(), view.image().place(process.node()), view.image().name());
        process(view.view(process));
    }

    private static void process(ProcessView process) {
        String parent = process.state().parentPid() == 0 ? "" : process.state().parentPid() == ProcessState.ADOPTED
                ? ", parent has ended" : ", child of " + process.state().parentPid();
        System.out.printf("process %d (%s)%s: %s%n", process.state().pid(),
                PrintableStream.line(process.state().name()), parent,
                PrintableStream.line(process.state().executable()));
        System.out.printf("    in %s, %s%n", process.state().workingDirectory(),
                process.memoryOf() == process.state().pid() ? InspectText.stored(process)
                        : "in the memory of process " + process.memoryOf());
        process.threads().forEach(thread -> {
            Registers registers = Registers.of(thread.registers());
            System.out.printf("    thread %-8d %-16s at 0x%x%s%n", thread.tid(), thread.name(),
                    registers.get(Registers.RIP),
                    registers.systemCall() < 0 ? "" : ", in system call " + registers.systemCall());
        });
        KindTotal.of(process.regions()).forEach(total -> InspectText.kind("   ", total));
        process.regions()
                .forEach(
                        region -> System.out
                                .println("    0x%012x-0x%012x %s %-9s %12s stored  %s"
                                        .formatted(region.region().start(), region.region().end(),
                                                region.region().permissions(), region.kind().word(),
                                                Durations.bytes(region.stored()), region.region().path())
                                        .stripTrailing()));
        process.descriptors().forEach(descriptor -> {
            Named named = process.objects().get(descriptor.object());
            System.out.printf("    descriptor %-5d %s%s%n", descriptor.fd(), named,
                    named.position() < 0 ? "" : " at " + named.position());
        });
    }
}
