// MDAV on a CUDA device: one scan of the free records, and two choices made from it.
//
// Compiled with ATTRIBUTES, TILE, SCAN and CHOICE (threads of a block) defined, and without fused
// multiply-add: distances round as in _mdav_kernel.py. A record is better than another by its
// distance, and by its number in the file where distances are equal, so neither the order of the
// records in memory nor that of the threads matters. Two counters say how many records are free and
// how many groups there are, so that the same launches can be played again and again.

#define ENDLESS __longlong_as_double(0x7ff0000000000000LL)

struct Record {
    double distance;
    int id, at;
};

__device__ Record nothing(bool nearest) { return {nearest ? ENDLESS : -1.0, 0x7fffffff, -1}; }

template <bool NEAREST>
__device__ Record better(const Record &a, const Record &b) {
    bool ahead = NEAREST ? b.distance < a.distance : b.distance > a.distance;
    return ahead || (b.distance == a.distance && b.id < a.id) ? b : a;
}

template <bool NEAREST>
__device__ Record best_of_warp(Record mine) {
    for (int step = 16; step > 0; step /= 2) {
        Record other;
        other.distance = __shfl_xor_sync(0xffffffff, mine.distance, step);
        other.id = __shfl_xor_sync(0xffffffff, mine.id, step);
        other.at = __shfl_xor_sync(0xffffffff, mine.at, step);
        mine = better<NEAREST>(mine, other);
    }
    return mine;
}

// The best record of a block, known to all its threads.
template <bool NEAREST, int THREADS>
__device__ Record best_of_block(Record mine) {
    __shared__ Record of_warp[32];
    mine = best_of_warp<NEAREST>(mine);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = threadIdx.x % 32 < THREADS / 32 ? of_warp[threadIdx.x % 32] : nothing(NEAREST);
    mine = best_of_warp<NEAREST>(mine);
    __syncthreads();
    return mine;
}

extern "C" __global__ void __launch_bounds__(SCAN)
scan(const double *X, long long stride, const int *counters, const double *target, const int *ids,
     double *distance, double *near_d, int *near_id, int *near_at, double *far_d, int *far_id,
     int *far_at) {
    const int each = TILE / SCAN, start = blockIdx.x * TILE + threadIdx.x, n_free = counters[0];
    if (blockIdx.x * TILE >= n_free) return;
    double sums[each];
    for (int i = 0; i < each; i++) sums[i] = 0.0;
#pragma unroll
    for (int j = 0; j < ATTRIBUTES; j++) {
        double place = target[j];
#pragma unroll
        for (int i = 0; i < each; i++) {
            int at = start + i * SCAN;
            double gap = (at < n_free ? X[j * stride + at] : 0.0) - place;
            sums[i] += gap * gap;
        }
    }
    Record near = nothing(true), far = nothing(false);
#pragma unroll
    for (int i = 0; i < each; i++) {
        int at = start + i * SCAN;
        if (at < n_free) {
            Record one = {sums[i], ids[at], at};
            distance[at] = sums[i];
            near = better<true>(near, one);
            far = better<false>(far, one);
        }
    }
    near = best_of_block<true, SCAN>(near);
    far = best_of_block<false, SCAN>(far);
    if (threadIdx.x == 0) {
        near_d[blockIdx.x] = near.distance, near_id[blockIdx.x] = near.id;
        near_at[blockIdx.x] = near.at;
        far_d[blockIdx.x] = far.distance, far_id[blockIdx.x] = far.id;
        far_at[blockIdx.x] = far.at;
    }
}

template <bool NEAREST>
__device__ Record best_of_tiles(int n_tiles, const double *d, const int *id, const int *at) {
    Record best = nothing(NEAREST);
    for (int tile = threadIdx.x; tile < n_tiles; tile += CHOICE)
        best = better<NEAREST>(best, Record{d[tile], id[tile], at[tile]});
    return best_of_block<NEAREST, CHOICE>(best);
}

extern "C" __global__ void __launch_bounds__(CHOICE)
choose_farthest(const double *X, long long stride, const int *counters, const double *far_d,
                const int *far_id, const int *far_at, int *seed, double *target) {
    Record far = best_of_tiles<false>((counters[0] + TILE - 1) / TILE, far_d, far_id, far_at);
    for (int j = threadIdx.x; j < ATTRIBUTES; j += CHOICE) target[j] = X[j * stride + far.at];
    if (threadIdx.x == 0) *seed = far.at;
}

// Strike a record off and find the nearest one of its tile anew.
__device__ void strike(int at, int n_free, double *distance, const int *ids, double *near_d,
                       int *near_id, int *near_at) {
    if (threadIdx.x == 0) distance[at] = ENDLESS;
    __syncthreads();
    int tile = at / TILE, end = min(n_free, (tile + 1) * TILE);
    Record near = nothing(true);
    for (int i = tile * TILE + threadIdx.x; i < end; i += CHOICE)
        near = better<true>(near, Record{distance[i], ids[i], i});
    near = best_of_block<true, CHOICE>(near);
    if (threadIdx.x == 0) near_d[tile] = near.distance, near_id[tile] = near.id,
                          near_at[tile] = near.at;
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(CHOICE)
choose_group(double *X, long long stride, int *counters, int k, int then_farthest,
             double *distance, int *ids, int *groups, double *near_d, int *near_id, int *near_at,
             const double *far_d, const int *far_id, const int *far_at, int *members, int *holes,
             int *fillers, unsigned long long *total, const double *scale, int *seed,
             double *target) {
    __shared__ int n_holes, n_fillers, next_seed;
    const int n_free = counters[0], group = counters[1];
    const int n_tiles = (n_free + TILE - 1) / TILE, n_left = n_free - k;
    int far = then_farthest ? best_of_tiles<false>(n_tiles, far_d, far_id, far_at).at : -1;
    bool far_is_member = false;
    int member = *seed;
    for (int i = 0; i < k; i++) {
        if (threadIdx.x == 0) members[i] = member;
        far_is_member |= member == far;
        strike(member, n_free, distance, ids, near_d, near_id, near_at);
        member = best_of_tiles<true>(n_tiles, near_d, near_id, near_at).at;
    }
    // The farthest record can only be among the nearest if all that are left lie equally far from
    // the seed; then the first of them in the file is next, and that is what was found last.
    if (far_is_member) far = member;
    if (threadIdx.x == 0) n_holes = n_fillers = 0, next_seed = far;
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += CHOICE) {
        int at = members[i], tail = n_left + i;
        groups[ids[at]] = group;
        if (at < n_left) holes[atomicAdd(&n_holes, 1)] = at;
        bool stays = true;
        for (int other = 0; other < k; other++) stays &= members[other] != tail;
        if (stays) fillers[atomicAdd(&n_fillers, 1)] = tail;
    }
    for (int i = threadIdx.x; i < k * ATTRIBUTES; i += CHOICE) {
        int j = i % ATTRIBUTES;
        long long units = __double2ll_rn(X[j * stride + members[i / ATTRIBUTES]] * scale[j]);
        atomicAdd(&total[j], (unsigned long long)(-units));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n_holes * ATTRIBUTES; i += CHOICE) {
        int j = i % ATTRIBUTES, gap = i / ATTRIBUTES;
        X[j * stride + holes[gap]] = X[j * stride + fillers[gap]];
        if (j == 0) {
            ids[holes[gap]] = ids[fillers[gap]];
            if (fillers[gap] == far) next_seed = holes[gap];
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < ATTRIBUTES; j += CHOICE)
        target[j] = then_farthest ? X[j * stride + next_seed]
                                  : (double)(long long)__ldcg(&total[j]) / scale[j] / (double)n_left;
    if (threadIdx.x == 0) *seed = next_seed, counters[0] = n_left, counters[1] = group + 1;
}
