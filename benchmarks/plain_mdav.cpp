// Exact MDAV by the book, on the processor: three full scans per pair of groups, nothing clever.
//
// It shares no line with the kernels of tacit, so that it can say whether their groups are right.
// Forms pairs of groups until fewer than 3k records are free or the time is over, and returns how
// many groups there are. Records are columns of X; for files without ties.
#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

using Place = std::pair<double, int>;  // squared distance and number of a record

namespace {

struct Free {
    double *X;
    long stride;
    int p, n;
    std::vector<int> ids;
    std::vector<long double> sums;

    // Fill the k nearest records and return the place of the farthest one.
    int scan(const double *target, int k, std::vector<Place> &nearest, std::vector<int> &at) const {
        nearest.assign(k, Place(std::numeric_limits<double>::infinity(), 0));
        at.assign(k, -1);
        Place farthest(-1, 0);
        int far_at = -1;
#pragma omp parallel
        {
            std::vector<Place> own(k, Place(std::numeric_limits<double>::infinity(), 0));
            std::vector<int> own_at(k, -1);
            Place own_far(-1, 0);
            int own_far_at = -1;
            double d[256];
#pragma omp for schedule(static) nowait
            for (int block = 0; block < (n + 255) / 256; block++) {
                int start = block * 256, width = std::min(256, n - start);
                for (int i = 0; i < width; i++) d[i] = 0;
                for (int j = 0; j < p; j++) {
                    const double *row = X + j * stride + start;
                    double centre = target[j];
                    for (int i = 0; i < width; i++) d[i] += (row[i] - centre) * (row[i] - centre);
                }
                for (int i = 0; i < width; i++) {
                    if (d[i] > own_far.first ||
                        (d[i] == own_far.first && -ids[start + i] > own_far.second)) {
                        own_far = Place(d[i], -ids[start + i]);
                        own_far_at = start + i;
                    }
                    if (d[i] <= own[k - 1].first)
                        offer(own, own_at, Place(d[i], ids[start + i]), start + i);
                }
            }
#pragma omp critical
            {
                if (own_far > farthest) farthest = own_far, far_at = own_far_at;
                for (int i = 0; i < k; i++)
                    if (own_at[i] >= 0) offer(nearest, at, own[i], own_at[i]);
            }
        }
        return far_at;
    }

    static void offer(std::vector<Place> &list, std::vector<int> &at, Place found, int place) {
        int slot = static_cast<int>(list.size()) - 1;
        if (!(found < list[slot])) return;
        for (; slot > 0 && found < list[slot - 1]; slot--)
            list[slot] = list[slot - 1], at[slot] = at[slot - 1];
        list[slot] = found, at[slot] = place;
    }

    // Give records a group and fill their gaps from the end.
    void remove(std::vector<int> at, int group, int *groups) {
        std::sort(at.rbegin(), at.rend());
        for (int gap : at) {
            groups[ids[gap]] = group;
            n--;
            for (int j = 0; j < p; j++) {
                sums[j] -= X[j * stride + gap];
                X[j * stride + gap] = X[j * stride + n];
            }
            ids[gap] = ids[n];
        }
    }
};

}  // namespace

extern "C" int plain_mdav(double *X, int n, int p, int k, double seconds, int *groups) {
    auto started = std::chrono::steady_clock::now();
    Free free{X, n, p, n, std::vector<int>(n), std::vector<long double>(p, 0)};
    for (int i = 0; i < n; i++) {
        free.ids[i] = i;
        for (int j = 0; j < p; j++) free.sums[j] += X[j * static_cast<long>(n) + i];
    }
    std::vector<Place> nearest;
    std::vector<int> at;
    std::vector<double> target(p);
    int group = 0;
    while (free.n >= 3 * k) {
        std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started;
        if (spent.count() > seconds) break;
        for (int j = 0; j < p; j++) target[j] = static_cast<double>(free.sums[j] / free.n);
        int r = free.scan(target.data(), 1, nearest, at);
        std::vector<double> x_r(p);
        for (int j = 0; j < p; j++) x_r[j] = X[j * static_cast<long>(n) + r];
        int s = free.scan(x_r.data(), k, nearest, at);
        for (int j = 0; j < p; j++) target[j] = X[j * static_cast<long>(n) + s];
        free.remove(at, group++, groups);
        free.scan(target.data(), k, nearest, at);
        free.remove(at, group++, groups);
    }
    return group;
}
