/* A conjugate-gradient solve on a 27-point stencil, the work of HPCG without its preconditioner.
 *
 * Each rank owns a cube of the grid and exchanges the shell around it with up to 26 neighbours.
 * Two runs with the same options print the same standard output, bit for bit: a dot product adds
 * its own points in memory order, the ranks' partial sums are gathered (no arithmetic on the way)
 * and every rank adds them in rank order, so no MPI reduction algorithm has a say in rounding.
 *
 * One solve is --iterations steps towards a new right-hand side; --solves of them make the run,
 * so that it can last as long as a demonstration needs without CG running dry. While the file of
 * --brake exists, each solve starts --late ms late (a second): a test holds the run back until it
 * is done with it, on a machine of any speed, and the processors are free meanwhile. */
#include "ballast.h"
#include "common.h"
#include "payload.h"
#include <getopt.h>
#include <unistd.h>

#define NEIGHBOURS 27 /* with the rank itself in the middle, which is skipped */

struct options {
    int grid, iterations, solves;
    long ballast_mib;
    const char *brake;
    int late_ms;
};

struct box {
    int low[3], high[3]; /* inclusive, in local coordinates; the shell is 0 and grid + 1 */
};

struct neighbour {
    int rank; /* MPI_PROC_NULL outside the grid */
    struct box sent, received;
    int points;
    double *out, *in;
};

struct domain {
    int rank, ranks, grid, stride;
    int dims[3], place[3];
    struct neighbour neighbour[NEIGHBOURS];
    double *partial; /* of each rank, for dot() */
};

static double *zeroed(size_t count)
{
    double *memory = calloc(count, sizeof *memory);
    if (!memory)
        fail("out of memory");
    return memory;
}

static size_t point(const struct domain *d, int x, int y, int z)
{
    return ((size_t)z * d->stride + y) * d->stride + x;
}

/* The points to send in (or to receive from) the direction `step` along one axis. */
static void span(int step, int grid, int received, int *low, int *high)
{
    *low = step == 0 ? 1 : step < 0 ? 1 - received : grid + received;
    *high = step == 0 ? grid : *low;
}

static void meet_neighbour(struct domain *d, int direction)
{
    struct neighbour *n = &d->neighbour[direction];
    int step[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
    int rank = 0, inside = direction != NEIGHBOURS / 2;
    n->points = 1;
    for (int axis = 2; axis >= 0; axis--) {
        int at = d->place[axis] + step[axis];
        inside &= at >= 0 && at < d->dims[axis];
        rank = rank * d->dims[axis] + at;
        span(step[axis], d->grid, 0, &n->sent.low[axis], &n->sent.high[axis]);
        span(step[axis], d->grid, 1, &n->received.low[axis], &n->received.high[axis]);
        n->points *= n->sent.high[axis] - n->sent.low[axis] + 1;
    }
    n->rank = inside ? rank : MPI_PROC_NULL;
    n->out = zeroed(n->points);
    n->in = zeroed(n->points);
}

static void decompose(struct domain *d, int grid)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &d->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &d->ranks);
    memset(d->dims, 0, sizeof d->dims);
    MPI_Dims_create(d->ranks, 3, d->dims);
    d->grid = grid;
    d->stride = grid + 2;
    d->place[0] = d->rank % d->dims[0];
    d->place[1] = d->rank / d->dims[0] % d->dims[1];
    d->place[2] = d->rank / d->dims[0] / d->dims[1];
    for (int direction = 0; direction < NEIGHBOURS; direction++)
        meet_neighbour(d, direction);
    d->partial = zeroed(d->ranks);
}

/* Copies between a box of the field and a message; returns nothing but moves box->points values. */
static void copy_box(const struct domain *d, const struct box *box, double *field, double *message, int pack)
{
    for (int z = box->low[2]; z <= box->high[2]; z++)
        for (int y = box->low[1]; y <= box->high[1]; y++)
            for (int x = box->low[0]; x <= box->high[0]; x++, message++) {
                double *at = &field[point(d, x, y, z)];
                if (pack)
                    *message = *at;
                else
                    *at = *message;
            }
}

static void exchange_halo(struct domain *d, double *field)
{
    MPI_Request request[2 * NEIGHBOURS];
    MPI_Status status[2 * NEIGHBOURS];
    int requests = 0;
    for (int i = 0; i < NEIGHBOURS; i++) {
        struct neighbour *n = &d->neighbour[i];
        if (n->rank != MPI_PROC_NULL) /* the sender numbers the message by its own direction */
            MPI_Irecv(n->in, n->points, MPI_DOUBLE, n->rank, NEIGHBOURS - 1 - i, MPI_COMM_WORLD, &request[requests++]);
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        struct neighbour *n = &d->neighbour[i];
        if (n->rank == MPI_PROC_NULL)
            continue;
        copy_box(d, &n->sent, field, n->out, 1);
        MPI_Isend(n->out, n->points, MPI_DOUBLE, n->rank, i, MPI_COMM_WORLD, &request[requests++]);
    }
    MPI_Waitall(requests, request, status);
    for (int i = 0; i < NEIGHBOURS; i++)
        if (d->neighbour[i].rank != MPI_PROC_NULL)
            copy_box(d, &d->neighbour[i].received, field, d->neighbour[i].in, 0);
}

static double dot(const struct domain *d, const double *a, const double *b)
{
    double own = 0, sum = 0;
    for (int z = 1; z <= d->grid; z++)
        for (int y = 1; y <= d->grid; y++)
            for (int x = 1; x <= d->grid; x++) {
                size_t at = point(d, x, y, z);
                own += a[at] * b[at];
            }
    MPI_Allgather(&own, 1, MPI_DOUBLE, d->partial, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int rank = 0; rank < d->ranks; rank++)
        sum += d->partial[rank];
    return sum;
}

/* out = A in, where A has 26 on its diagonal and -1 for each of the 26 points around. */
static void apply_stencil(struct domain *d, double *in, double *out)
{
    exchange_halo(d, in);
    for (int z = 1; z <= d->grid; z++)
        for (int y = 1; y <= d->grid; y++)
            for (int x = 1; x <= d->grid; x++) {
                double around = 0;
                for (int dz = -1; dz <= 1; dz++)
                    for (int dy = -1; dy <= 1; dy++) {
                        const double *row = &in[point(d, x, y + dy, z + dz)];
                        around += row[-1] + row[0] + row[1];
                    }
                size_t at = point(d, x, y, z);
                out[at] = 27 * in[at] - around;
            }
}

/* y = x * scale_x + y * scale_y on the points that this rank owns. */
static void combine(const struct domain *d, double scale_x, const double *x, double scale_y, double *y)
{
    for (int k = 1; k <= d->grid; k++)
        for (int j = 1; j <= d->grid; j++) {
            size_t row = point(d, 1, j, k);
            for (int i = 0; i < d->grid; i++)
                y[row + i] = scale_x * x[row + i] + scale_y * y[row + i];
        }
}

static uint64_t global_index(const struct domain *d, int x, int y, int z)
{
    uint64_t gx = (uint64_t)d->place[0] * d->grid + x - 1;
    uint64_t gy = (uint64_t)d->place[1] * d->grid + y - 1;
    uint64_t gz = (uint64_t)d->place[2] * d->grid + z - 1;
    return (gz * d->dims[1] * d->grid + gy) * d->dims[0] * d->grid + gx;
}

static void right_hand_side(const struct domain *d, int solve, double *b)
{
    for (int z = 1; z <= d->grid; z++)
        for (int y = 1; y <= d->grid; y++)
            for (int x = 1; x <= d->grid; x++) {
                uint64_t bits = mix64(global_index(d, x, y, z) * 4099 + solve);
                b[point(d, x, y, z)] = (double)(bits >> 11) * 0x1p-53 - 0.5;
            }
}

struct fields {
    double *solution, *residual, *direction, *image;
};

static void say_residual(const struct domain *d, int solve, int iteration, double squared)
{
    if (d->rank != 0)
        return;
    printf("solve %d iteration %d residual^2 %.6e %a\n", solve, iteration, squared, squared);
    fflush(stdout);
}

static void solve(struct domain *d, const struct options *o, int number, struct fields *f, struct ballast *ballast)
{
    size_t points = (size_t)d->stride * d->stride * d->stride;
    memset(f->solution, 0, points * sizeof(double));
    right_hand_side(d, number, f->residual);
    memcpy(f->direction, f->residual, points * sizeof(double));
    double squared = dot(d, f->residual, f->residual);
    for (int i = 1; i <= o->iterations; i++) {
        apply_stencil(d, f->direction, f->image);
        double step = squared / dot(d, f->direction, f->image);
        combine(d, step, f->direction, 1, f->solution);
        combine(d, -step, f->image, 1, f->residual);
        double before = squared;
        squared = dot(d, f->residual, f->residual);
        combine(d, 1, f->residual, squared / before, f->direction);
        touch_ballast(ballast, (uint64_t)number * o->iterations + i);
        if (i % 10 == 0 || i == o->iterations)
            say_residual(d, number, i, squared);
    }
}

/* Every rank sleeps for itself: one that waited for another in a halo exchange would poll. */
static void brake(const char *file, int late_ms)
{
    enum { LOOK_MS = 50 };
    for (int waited = 0; file && waited < late_ms && access(file, F_OK) == 0; waited += LOOK_MS)
        usleep(1000 * LOOK_MS);
}

/* Prints wrapped sums over every bit of the solution and of the ballast: the same in any order. */
static void say_checksum(const struct domain *d, const double *solution, const struct ballast *ballast)
{
    uint64_t own[2] = {0, weigh_ballast(ballast)}, all[2];
    for (int z = 1; z <= d->grid; z++)
        for (int y = 1; y <= d->grid; y++)
            for (int x = 1; x <= d->grid; x++) {
                uint64_t bits;
                memcpy(&bits, &solution[point(d, x, y, z)], sizeof bits);
                own[0] += mix64(bits + mix64(global_index(d, x, y, z)));
            }
    MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (d->rank == 0)
        printf("checksum solution %016llx ballast %016llx\n", (unsigned long long)all[0], (unsigned long long)all[1]);
}

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {{"grid", 1, 0, 'g'},
                                          {"iterations", 1, 0, 'i'},
                                          {"solves", 1, 0, 's'},
                                          {"ballast", 1, 0, 'b'},
                                          {"brake", 1, 0, 'k'},
                                          {"late", 1, 0, 'l'},
                                          {0}};
    struct options o = {.grid = 24, .iterations = 50, .solves = 4, .late_ms = 1000};
    int which;
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1)
        switch (which) {
        case 'g':
            o.grid = (int)number_option(optarg, 2, "--grid");
            break;
        case 'i':
            o.iterations = (int)number_option(optarg, 1, "--iterations");
            break;
        case 's':
            o.solves = (int)number_option(optarg, 1, "--solves");
            break;
        case 'b':
            o.ballast_mib = number_option(optarg, 0, "--ballast");
            break;
        case 'k':
            o.brake = optarg;
            break;
        case 'l':
            o.late_ms = (int)number_option(optarg, 1, "--late");
            break;
        default:
            fputs("usage: stencil_cg [--grid POINTS] [--iterations N] [--solves N] [--ballast MiB] [--brake FILE] "
                  "[--late MS]\n",
                  stderr);
            exit(64);
        }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    struct domain d;
    struct ballast ballast = {0};
    MPI_Init(&argc, &argv);
    decompose(&d, o.grid);
    load_ballast(&ballast, o.ballast_mib, d.rank);
    size_t points = (size_t)d.stride * d.stride * d.stride;
    struct fields f = {zeroed(points), zeroed(points), zeroed(points), zeroed(points)};
    if (d.rank == 0)
        printf("stencil_cg: %d ranks as %dx%dx%d, %d^3 points each, %d solves of %d iterations, ballast %ld MiB\n",
               d.ranks, d.dims[0], d.dims[1], d.dims[2], o.grid, o.solves, o.iterations, o.ballast_mib);
    for (int number = 0; number < o.solves; number++) {
        brake(o.brake, o.late_ms);
        solve(&d, &o, number, &f, &ballast);
    }
    say_checksum(&d, f.solution, &ballast);
    MPI_Finalize();
    return 0;
}
