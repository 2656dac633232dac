# In the form of Spack 1.0 and later; docs/operator/install.md says how to use it from a clone.
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Udckpt(Package):
    """Checkpoints and restarts unmodified MPI jobs that talk InfiniBand verbs, in user space."""

    # Its source is a clone: spack install "udckpt@0.1.0 dev_path=$PWD"
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("gmake", type="build")
    depends_on("maven@3.8:", type="build")
    depends_on("openjdk@25", type=("build", "run"))
    depends_on("bash", type=("build", "run"))
    depends_on("rdma-core")
    # To link with, although a header and some of libcrypto.a are all that is taken: Spack's compiler looks only into
    # what is linked.
    depends_on("xxhash")
    depends_on("openssl@3:")

    requires("platform=linux", msg="it captures processes of Linux")
    requires("target=x86_64:", msg="it captures processes of x86-64")

    def setup_build_environment(self, env):
        env.set("JAVA_HOME", self.spec["openjdk"].prefix)
        env.set("CFLAGS", "-Wno-error")  # whatever compiler it is

    def install(self, spec, prefix):
        Executable(join_path(self.stage.source_path, "udckpt"))("install", prefix)
