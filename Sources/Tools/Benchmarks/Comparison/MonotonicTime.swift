internal import Glibc

/// Nanoseconds of a clock that all processes of this machine share and nobody sets.
enum MonotonicTime {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
