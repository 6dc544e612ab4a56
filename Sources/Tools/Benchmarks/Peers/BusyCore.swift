internal import Glibc

/// Computes without pause on one core, which the measured processes can use too: they are not bound to a core.
struct BusyCore {
    func run(_ control: Control) throws {
        try bindThread()
        try control.send()
        // The process ends when the benchmark ends, see ``Control``.
        while true {}
    }

    /// Binds this thread to the last core that it can use.
    private func bindThread() throws {
        var cores = cpu_set_t()
        try call("sched_getaffinity", &cores)
        withUnsafeMutableBytes(of: &cores) { bytes in
            let words = bytes.bindMemory(to: UInt.self)
            guard let index = words.lastIndex(where: { $0 != 0 }) else { return }
            let last: UInt = 1 << (UInt.bitWidth - 1 - words[index].leadingZeroBitCount)
            words.update(repeating: 0)
            words[index] = last
        }
        try call("sched_setaffinity", &cores)
    }

    private typealias Affinity = @convention(c) (pid_t, Int, UnsafeMutablePointer<cpu_set_t>) -> Int32

    /// Calls a function of the C library that Swift's module of it does not declare, for this thread.
    private func call(_ name: String, _ cores: inout cpu_set_t) throws {
        let function = dlsym(nil, name).map { unsafeBitCast($0, to: Affinity.self) }
        guard let function, function(0, MemoryLayout<cpu_set_t>.size, &cores) == 0 else {
            throw BenchmarkError("a thread cannot be bound to a core: \(name) failed")
        }
    }
}
