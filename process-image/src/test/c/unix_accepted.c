/* Connections that were accepted have their listener's name, a relative one here, and one file together. It stays when
 * the listener is closed, and nobody reaches them by it. They have the name, and work, after each restart. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>

enum { CONNECTIONS = 3 };

static void check_name(int socket) {
  struct sockaddr_un name = {0};
  socklen_t length = sizeof name;
  MUST(!getsockname(socket, (struct sockaddr *)&name, &length));
  CHECK(!strcmp(name.sun_path, "meeting"), "its name is %s", name.sun_path);
}

static void check_way(int from, int to, uint64_t number) {
  uint64_t arrived = 0;
  CHECK(write(from, &number, sizeof number) == sizeof number, "write to a connection");
  CHECK(read(to, &arrived, sizeof arrived) == sizeof arrived && arrived == number, "%lu arrived, not %lu", arrived,
        number);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "meeting"};
  int listener = socket(AF_UNIX, SOCK_STREAM, 0), clients[CONNECTIONS], accepted[CONNECTIONS];
  MUST(listener >= 0 && !chdir(feature_scratch));
  MUST(!bind(listener, (struct sockaddr *)&name, sizeof name) && !listen(listener, CONNECTIONS));
  for (int i = 0; i < CONNECTIONS; i++) {
    clients[i] = socket(AF_UNIX, SOCK_STREAM, 0);
    MUST(clients[i] >= 0 && !connect(clients[i], (struct sockaddr *)&name, sizeof name));
    accepted[i] = accept(listener, NULL, NULL);
    MUST(accepted[i] >= 0);
  }
  MUST(!close(listener));
  feature_ready();
  for (uint64_t n = 0; !feature_finishing(); n++)
    for (int i = 0; i < CONNECTIONS; i++) {
      check_name(accepted[i]);
      check_way(clients[i], accepted[i], n);
      check_way(accepted[i], clients[i], n);
      pause_ms(2);
    }
  return feature_pass();
}
