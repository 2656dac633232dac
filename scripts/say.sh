# Messages go to standard error: standard output belongs to the job.
say() { printf 'udckpt: %s\n' "$*" >&2; }
die() { code=$1; shift; say "$*"; exit "$code"; }
