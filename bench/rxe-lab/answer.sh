# The answer that every run of the job has to give, from one that nothing interrupts.
uninterrupted_answer() {
    mkdir -p "$run/share"
    # shellcheck disable=SC2086 # a list of words
    UDCKPT_NO_BUILD=1 "$root/udckpt" run -n 2 --name "rxe-lab-answer-$$" --dir "$run/unused" --device soft -- \
        "$root/native/target/cmake/programs/stencil_cg" $solve | grep '^solve\|^checksum' >"$run/share/answer"
}
