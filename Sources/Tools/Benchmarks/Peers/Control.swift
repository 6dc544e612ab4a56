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
    func waitForOrder() throws -> PeerOrder? {
        guard let line = readLine() else { return nil }
        let order: PeerOrder = try ControlLine.decode(line)
        // What is lost for good must not leave the benchmark waiting: the peer's end tells it.
        alarm(order.limit)
        return order
    }

    func send(_ report: Report = Report()) throws {
        alarm(0)
        try FileHandle.standardOutput.write(contentsOf: Data(try ControlLine.encode(report).utf8))
    }

    /// As ``waitForOrder()``, without holding up a thread that tasks share.
    func nextOrder() async throws -> PeerOrder? {
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

/// What a peer is told to do, one JSON object a line; it answers each with a ``Report``.
struct PeerOrder: Codable, Sendable {
    enum Action: String, Codable {
        /// Get everything ready that is not to be measured.
        case prepare
        case run
    }

    var action: Action
    /// Messages that are to be moved.
    var count: Int
    /// Messages that are acknowledged but not journalled.
    var isTransient = false
    /// Subscribe from the journal's beginning.
    var isFromBeginning = false
    /// Messages as short as they can be.
    var isShort = false
    /// Milliseconds without a message after which those that are missing are lost.
    var patience = 4000
    /// Seconds after which a peer that has not answered ends itself.
    var limit: UInt32 = 120

    static func prepare(_ count: Int, isFromBeginning: Bool = false) -> PeerOrder {
        PeerOrder(action: .prepare, count: count, isFromBeginning: isFromBeginning)
    }

    static func run(_ count: Int) -> PeerOrder {
        PeerOrder(action: .run, count: count)
    }
}

/// What a peer has to say: one JSON object a line. The first, without content, says that it is ready.
struct Report: Codable, Sendable {
    /// When the first message came or the work began, in nanoseconds of ``MonotonicTime``.
    var begin: Int64 = 0
    /// When the last message came or the work was done.
    var end: Int64 = 0
    /// Messages that came or were moved.
    var count = 0
    /// Messages that came behind a later one.
    var misordered = 0
    /// Latencies in microseconds.
    var median = 0.0
    var percentile99 = 0.0

    var seconds: Double { Double(end - begin) / 1e9 }
}

extension Report {
    /// - Parameter latencies: in nanoseconds.
    init(latencies: [Int64]) {
        let microseconds = latencies.map { Double($0) / 1000 }
        count = latencies.count
        median = Statistics.median(of: microseconds)
        percentile99 = Statistics.percentile(99, of: microseconds)
    }

    /// What several subscribers of one publisher report together.
    init(merging reports: [Report]) {
        let received = reports.filter { $0.count > 0 }
        begin = received.map(\.begin).min() ?? 0
        end = received.map(\.end).max() ?? 0
        count = reports.map(\.count).reduce(0, +)
        misordered = reports.map(\.misordered).reduce(0, +)
    }
}

/// One value as a line of JSON.
enum ControlLine {
    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self) + "\n"
    }

    static func decode<Value: Decodable>(_ line: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(line.utf8))
    }
}
