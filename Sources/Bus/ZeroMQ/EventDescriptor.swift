internal import CZeroMQ
internal import Glibc

/// An eventfd: what wakes a thread that polls.
struct EventDescriptor: ~Copyable, Sendable {
    let rawValue: Int32

    init() {
        rawValue = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    }

    deinit {
        close(rawValue)
    }

    func signal() {
        var one: UInt64 = 1
        write(rawValue, &one, MemoryLayout<UInt64>.size)
    }

    func drain() {
        var count: UInt64 = 0
        read(rawValue, &count, MemoryLayout<UInt64>.size)
    }
}
