/* Asks for its environment again and again, as itself and through a child: what it finds now is in the file ANSWER.
 *
 *   ask_environment ANSWER FINISH */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *said(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "(none)";
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    char other[4096];
    snprintf(other, sizeof other, "%s.new", argv[1]);
    while (access(argv[2], F_OK)) {
        char child[256] = "";
        FILE *answer = fopen(other, "w");
        if (!answer)
            return 1;
        fprintf(answer, "%s %s %s ", said("COLOUR"), said("SHAPE"), said("KEPT"));
        FILE *shell = popen("printf %s \"$COLOUR\"", "r");
        if (!shell || !fgets(child, sizeof child, shell))
            return 1;
        pclose(shell);
        fprintf(answer, "%s\n", child);
        fclose(answer);
        if (rename(other, argv[1]))
            return 1;
        usleep(20000);
    }
    return 0;
}
