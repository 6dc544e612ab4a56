internal import Glibc

/// The memory of this process.
package enum ProcessMemory {
    /// The largest resident size that the process has had, in bytes. Costs one system call and no descriptor.
    package static var peak: Int {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
        // Linux counts in KiB.
        return usage.ru_maxrss << 10
    }
}
