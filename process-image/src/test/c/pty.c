/* Pseudo-terminals: modes, size, owner, lines and bytes in both directions that nobody has read, number; a session that
 * one controls, with its foreground group; one whose slave was closed with output left, one that was never opened, and
 * a slave without master. */
#include "feature.h"
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

typedef struct {
  int master, slave, number;
} Pty;

static Pty open_pty(bool slave) {
  Pty pty = {posix_openpt(O_RDWR | O_NOCTTY), -1, -1};
  MUST(pty.master >= 0 && !grantpt(pty.master) && !unlockpt(pty.master));
  MUST(!ioctl(pty.master, TIOCGPTN, &pty.number));
  if (slave) MUST((pty.slave = open(ptsname(pty.master), O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0);
  return pty;
}

static void set_raw(int fd) {
  struct termios modes;
  MUST(!tcgetattr(fd, &modes));
  cfmakeraw(&modes);
  MUST(!tcsetattr(fd, TCSANOW, &modes));
}

static void set_local(int fd, tcflag_t off) {
  struct termios modes;
  MUST(!tcgetattr(fd, &modes));
  modes.c_lflag &= ~off;
  modes.c_cc[VINTR] = 7;
  MUST(!tcsetattr(fd, TCSANOW, &modes));
}

static void check_name(const Pty *pty) {
  int number = -1;
  CHECK(!ioctl(pty->master, TIOCGPTN, &number) && number == pty->number, "terminal %d became %d", pty->number, number);
  char name[64];
  snprintf(name, sizeof name, "/dev/pts/%d", pty->number);
  const char *own = pty->slave < 0 ? name : ttyname(pty->slave);
  if (!own) own = ttyname(pty->slave); /* it looks twice, and /dev/pts is another one after a restart in between */
  if (!own) {                          /* what it goes by */
    char link[32], target[64] = "";
    struct stat here = {0}, there = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", pty->slave);
    long length = readlink(link, target, sizeof target - 1);
    CHECK(!fstat(pty->slave, &here) && !stat(name, &there), "%s is not there, but %s", name, target);
    CHECK(own, "no ttyname: %s (%ld) is %lx:%lu, %s is %lx:%lu", target, length, (long)here.st_dev, (long)here.st_ino,
          name, (long)there.st_dev, (long)there.st_ino);
  }
  CHECK(!strcmp(own, name), "ttyname is %s, not %s", own, name);
}

static void check_owner(const Pty *pty, mode_t mode) {
  struct stat stat;
  CHECK(!fstat(pty->slave, &stat) && (stat.st_mode & 07777) == mode, "mode %#o of terminal %d became %#o", mode,
        pty->number, stat.st_mode & 07777);
  if (!geteuid())
    CHECK(stat.st_uid == 1234 && stat.st_gid == 5678, "the owner of terminal %d became %d:%d", pty->number, stat.st_uid,
          stat.st_gid);
}

static void expect(int fd, const char *want, const char *what) {
  char got[200];
  ssize_t n = read(fd, got, sizeof got);
  CHECK(n == (ssize_t)strlen(want) && !memcmp(got, want, (size_t)n), "%s: %zd bytes '%.*s', not '%s'", what, n,
        n > 0 ? (int)n : 0, got, want);
}

static volatile sig_atomic_t interrupts;
static void interrupted(int signal) {
  (void)signal, interrupts++;
}

/* A shell and its job: a session with a terminal, a group in front. Byte 7 on the master interrupts that group alone.
 */
static pid_t start_session(const Pty *pty, int *told) {
  int pipes[2];
  MUST(!pipe(pipes));
  pid_t leader = fork();
  MUST(leader >= 0);
  if (leader) {
    close(pipes[1]);
    *told = pipes[0];
    return leader;
  }
  feature_child();
  MUST(setsid() == getpid() && !ioctl(pty->slave, TIOCSCTTY, 0));
  signal(SIGTTOU, SIG_IGN);
  MUST(!signal(SIGINT, interrupted));
  pid_t job = fork();
  MUST(job >= 0);
  if (!job) {
    feature_child();
    setpgid(0, 0);
    while (!feature_finishing() && !interrupts) pause_ms(2);
    int fd = open("/dev/tty", O_RDWR);
    CHECK(fd >= 0 && tcgetpgrp(fd) == getpgrp() && tcgetsid(fd) == getppid(),
          "the terminal is not this session's any more");
    while (!interrupts) pause_ms(2); /* the driver of this test ends it if none comes */
    MUST(write(pipes[1], "i", 1) == 1);
    _exit(0);
  }
  setpgid(job, job);
  MUST(!tcsetpgrp(pty->slave, job));
  MUST(write(pipes[1], "r", 1) == 1);
  int status;
  pid_t ended;
  while ((ended = waitpid(job, &status, 0)) < 0 && errno == EINTR) {
  }
  CHECK(ended == job && !status && !interrupts, "the job ended with %#x, interrupts of its shell: %d", status,
        (int)interrupts);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  signal(SIGHUP, SIG_IGN);
  Pty lines = open_pty(true), raw = open_pty(true), left = open_pty(true), unopened = open_pty(false),
      orphan = open_pty(true), session = open_pty(true);
  struct winsize size = {43, 132, 7, 9}, got_size;
  MUST(!ioctl(lines.master, TIOCSWINSZ, &size));
  set_local(lines.slave, ECHO);
  MUST(!fchmod(lines.slave, 0604) && (geteuid() || !fchown(lines.slave, 1234, 5678)));
  set_raw(raw.slave);
  MUST(write(lines.slave, "one\ntwo\n", 8) == 8);            /* processed to \r\n */
  MUST(write(lines.master, "first\nsecond\nthi", 16) == 16); /* two lines and a part */
  MUST(write(raw.slave, "\x01\n\xff", 3) == 3 && write(raw.master, "\x03\x04\r\n", 4) == 4);
  int packets = 1;
  MUST(!ioctl(raw.master, TIOCPKT, &packets));
  set_raw(left.slave);
  MUST(write(left.slave, "rest", 4) == 4 && !close(left.slave));
  left.slave = -1;
  MUST(!close(orphan.master));
  set_local(session.slave, ECHO);
  int told;
  char word;
  pid_t shell = start_session(&session, &told);
  MUST(read(told, &word, 1) == 1);
  MUST(!fcntl(raw.master, F_SETFL, O_NONBLOCK));
  feature_ready();
  while (!feature_finishing()) {
    char byte;
    CHECK(read(orphan.slave, &byte, 1) <= 0 && write(orphan.slave, "x", 1) < 0 && errno == EIO,
          "a slave without master works");
    check_owner(&lines, 0604);
    check_name(&lines), check_name(&raw), check_name(&left), check_name(&unopened), check_name(&session);
    pause_ms(2);
  }
  CHECK(!ioctl(lines.slave, TIOCGWINSZ, &got_size) && !memcmp(&size, &got_size, sizeof size), "window size %dx%d",
        got_size.ws_row, got_size.ws_col);
  struct termios modes;
  CHECK(
      !tcgetattr(lines.slave, &modes) && !(modes.c_lflag & ECHO) && (modes.c_lflag & ICANON) && modes.c_cc[VINTR] == 7,
      "modes were lost");
  expect(lines.master, "one\r\ntwo\r\n", "output");
  expect(lines.slave, "first\n", "first line"), expect(lines.slave, "second\n", "second line");
  MUST(write(lines.master, "rd\n", 3) == 3);
  expect(lines.slave, "third\n", "line that was not complete");
  check_flags(raw.master, O_RDWR | O_NONBLOCK, 0, "master");
  check_flags(raw.slave, O_RDWR, FD_CLOEXEC, "slave");
  char packet[8];
  ssize_t n = read(raw.master, packet, sizeof packet);
  if (n == 1 && packet[0]) n = read(raw.master, packet, sizeof packet); /* a note about flow control may come first */
  CHECK(n == 4 && !packet[0] && !memcmp(packet + 1, "\x01\n\xff", 3), "packet mode: %zd bytes, first %d", n, packet[0]);
  expect(raw.slave, "\x03\x04\r\n", "raw input");
  expect(left.master, "rest", "what was left");
  CHECK(read(left.master, packet, 1) < 0 && errno == EIO, "the end of a closed terminal");
  unopened.slave = open(ptsname(unopened.master), O_RDWR | O_NOCTTY);
  CHECK(unopened.slave >= 0, "opening a terminal for the first time");
  MUST(write(unopened.slave, "late\n", 5) == 5);
  expect(unopened.master, "late\r\n", "terminal that was opened late");
  MUST(write(session.master, "\a", 1) == 1); /* VINTR */
  CHECK(read(told, &word, 1) == 1 && word == 'i', "the foreground group was not interrupted");
  int status;
  CHECK(waitpid(shell, &status, 0) == shell && !status, "the session's leader ended with %#x", status);
  return feature_pass();
}
