// Distance linkage on a CUDA device: all pairs of targets and points, each thread one target.
//
// Compiled with COLUMNS, MEASURED (columns that are numbers; the others are codes that differ by 0
// or 1), THREADS, TILE (points held by a block at a time) and MISSING defined, and without fused
// multiply-add: distances round as in _linkage_kernel.py.

__device__ double squared_distance(const double *x, const double *y, const double *blank) {
    double total = 0.0;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        double gap = x[c] - y[c];
        double part = c < MEASURED ? gap * gap : (gap != 0.0 ? 1.0 : 0.0);
        if (MISSING) part = gap == gap ? part : blank[c];
        total += part;
    }
    return total;
}

// Count the points at each target's squared radius; 0 as soon as one point is nearer than that.
extern "C" __global__ void __launch_bounds__(THREADS)
tied_at(const double *targets, const double *radius, int n_targets, const double *points,
        const double *amounts, int n_points, const int *first_tile, const double *blank,
        double relative, double absolute, double *tied) {
    __shared__ double held[TILE * COLUMNS], amount[TILE];
    const int i = blockIdx.x * THREADS + threadIdx.x, n_tiles = (n_points + TILE - 1) / TILE;
    double x[COLUMNS], inner = 0.0, outer = -1.0, count = i < n_targets ? 0.0 : -1.0;
    for (int c = 0; c < COLUMNS; c++) x[c] = i < n_targets ? targets[(long long)i * COLUMNS + c] : 0.0;
    if (i < n_targets) {
        outer = radius[i] * (1 + relative) + absolute;
        inner = radius[i] * (1 - relative) - absolute;
    }
    for (int step = 0; step < n_tiles; step++) {
        // Points near the targets come first, so that most targets are settled soon.
        const int tile = (first_tile[blockIdx.x] + step) % n_tiles, start = tile * TILE;
        const int size = min(TILE, n_points - start);
        if (!__syncthreads_or(count >= 0.0)) break;
        for (int j = threadIdx.x; j < size * COLUMNS; j += THREADS)
            held[j] = points[(long long)start * COLUMNS + j];
        for (int j = threadIdx.x; j < size; j += THREADS) amount[j] = amounts[start + j];
        __syncthreads();
        if (count >= 0.0) {
            bool nearer = false;
#pragma unroll 4
            for (int j = 0; j < size; j++) {
                double distance = squared_distance(x, held + j * COLUMNS, blank);
                if (distance <= outer) {
                    nearer |= distance < inner;
                    count += amount[j];
                }
            }
            if (nearer) count = -1.0;
        }
    }
    if (i < n_targets) tied[i] = count > 0.0 ? count : 0.0;
}
