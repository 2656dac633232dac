/* The process's environment as the library reads it, beneath the getenv(3) that the job calls
 * (interposer_environment.c). */
#pragma once

/* As getenv(3), with the variables of `restart --env`. */
char *environment_get(const char *name);
