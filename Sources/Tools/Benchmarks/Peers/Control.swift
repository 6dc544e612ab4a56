internal import Dispatch
internal import Foundation
internal import Glibc

/// A peer's line to the benchmark that started it: orders come in on standard input, reports go out on standard output.
final class Control: Sendable {
    private let queue = DispatchQueue(label: "control")

    /// From here on the peer ends with the benchmark, however that ends, and after a while if it cannot get ready.
    init() {
        alarm(60)
        let watch = Thread {
            // Reports a pipe whose other end is gone, and nothing else.
            var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
            while poll(&input, 1, -1) < 0 {}
            _exit(EXIT_SUCCESS)
        }
        watch.start()
    }

    /// Waits on this thread.
    /// - Returns: nil when the benchmark is over.
    func waitForOrder() throws -> Order? {
        guard let line = readLine() else { return nil }
        let order: Order = try Line.decode(line)
        // What is lost for good must not leave the benchmark waiting: the peer's end tells it.
        alarm(order.limit)
        return order
    }

    func send(_ report: Report = Report()) throws {
        alarm(0)
        try FileHandle.standardOutput.write(contentsOf: Data(try Line.encode(report).utf8))
    }

    /// As ``waitForOrder()``, without holding up a thread that tasks share.
    func nextOrder() async throws -> Order? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.waitForOrder() }) }
        }
    }

    /// As ``send(_:)``, without holding up a thread that tasks share.
    func report(_ report: Report = Report()) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.send(report) }) }
        }
    }
}
