package org.udckpt.cli;

import java.util.Map;
import java.util.Stack;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * For a flag that may have a number behind it: a word there that is none is not the flag's, but what the command is
 * about.
 */
final class OptionalNumber implements IParameterPreprocessor {
    private static final String BLANK = " ";

    @Override
    public boolean preprocess(Stack<String> words, CommandSpec command, ArgSpec flag, Map<String, Object> state) {
        boolean attached = !BLANK.equals(state.get("separator"));
        if (!attached && (words.isEmpty() || !words.peek().matches("\\d+"))) {
            words.push(((OptionSpec) flag).fallbackValue());
        }
        return false; // picocli goes on with what is there now
    }
}
