internal import Dispatch
internal import EventBus
internal import Foundation
internal import Glibc

/// The connection of a peer to the benchmark that started it. It reads orders from standard input and writes reports to
/// standard output.
final class Control: Sendable {
    private let queue = DispatchQueue(label: "control")

    /// Starts to watch the benchmark. The process then ends when the benchmark ends for any reason. It also ends if it
    /// has not sent its first report within 60 seconds.
    init() {
        alarm(60)
        let watch = Thread {
            // Without requested events, poll returns only if the other end of the pipe is closed.
            var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
            while poll(&input, 1, -1) < 0 {}
            _exit(EXIT_SUCCESS)
        }
        watch.start()
    }

    /// Waits for the next order, and blocks the thread.
    /// - Returns: Nil if the benchmark is over.
    func waitForOrder() throws -> PeerOrder? {
        guard let line = readLine() else { return nil }
        let order: PeerOrder = try ControlLine.decode(line)
        // The alarm ends the process if the order takes longer than its limit.
        alarm(order.limit)
        return order
    }

    /// Sends a report. This ends the time limit of the order.
    func send(_ report: Report = Report()) throws {
        alarm(0)
        try FileHandle.standardOutput.write(contentsOf: Data(try ControlLine.encode(report).utf8))
    }

    /// Waits for the next order without blocking a thread of the cooperative pool.
    /// - Returns: Nil if the benchmark is over.
    func nextOrder() async throws -> PeerOrder? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.waitForOrder() }) }
        }
    }

    /// Sends a report without blocking a thread of the cooperative pool.
    func report(_ report: Report = Report()) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.send(report) }) }
        }
    }
}

/// An order to a peer, written as one line of JSON. The peer answers each order with a ``Report``.
struct PeerOrder: Codable, Sendable {
    enum Action: String, Codable {
        /// Do the work before the measurement.
        case prepare
        /// Do the measured work.
        case run
    }

    var action: Action
    /// The number of messages to send or receive.
    var count: Int
    /// True for messages that are acknowledged but not journalled.
    var isTransient = false
    /// True for subscriptions from the journal's beginning.
    var isFromBeginning = false
    /// True for messages that are as short as possible.
    var isShort = false
    /// False for a subscriber in C that reads only the number of each message.
    var readsAttributes = true
    /// The number of sessions that the batches belong to in turn, each in a partition of its own. With one session, its
    /// messages are delivered in the order of their numbers.
    var sessionCount = 1
    /// The time without a message after which the missing messages count as lost, in milliseconds.
    var patience = 4000
    /// The maximum time for the order, in seconds. If the peer has not answered then, its process ends.
    var limit: UInt32 = 120

    static func prepare(_ count: Int, isFromBeginning: Bool = false) -> PeerOrder {
        PeerOrder(action: .prepare, count: count, isFromBeginning: isFromBeginning)
    }

    static func run(_ count: Int) -> PeerOrder {
        PeerOrder(action: .run, count: count)
    }
}

/// A report of a peer, written as one line of JSON. The first report is empty and means that the peer is ready.
struct Report: Codable, Sendable {
    /// The time at which the first message arrived or the work began, in nanoseconds of ``MonotonicTime``.
    var begin: Int64 = 0
    /// The time at which the last message arrived or the work was done, in nanoseconds of ``MonotonicTime``.
    var end: Int64 = 0
    /// The number of messages that arrived or were sent.
    var count = 0
    /// The number of messages that arrived directly after a message that was sent later, or twice in a row.
    var misordered = 0
    /// The median of the latencies, in microseconds.
    var median = 0.0
    /// The 99th percentile of the latencies, in microseconds.
    var percentile99 = 0.0

    var seconds: Double { Double(end - begin) / 1e9 }
}

extension PeerOrder {
    /// The subjects of the batches, in turn.
    var sessions: [String] {
        guard sessionCount > 1 else { return ["default"] }
        var names: [Partition: String] = [:]
        for name in (0...).lazy.map({ "session-\($0)" }) {
            let partition = Partition(subject: name)
            if names[partition] == nil { names[partition] = name }
            if names.count == min(sessionCount, Partition.count) { break }
        }
        return names.values.sorted()
    }
}

extension Report {
    /// - Parameter latencies: The latencies in nanoseconds.
    init(latencies: [Int64]) {
        let microseconds = latencies.map { Double($0) / 1000 }
        count = latencies.count
        median = Statistics.median(of: microseconds)
        percentile99 = Statistics.percentile(99, of: microseconds)
    }

    /// Merges the reports of several subscribers of one publisher.
    init(merging reports: [Report]) {
        let received = reports.filter { $0.count > 0 }
        begin = received.map(\.begin).min() ?? 0
        end = received.map(\.end).max() ?? 0
        count = reports.map(\.count).reduce(0, +)
        misordered = reports.map(\.misordered).reduce(0, +)
    }
}

/// The coding of values as lines of JSON.
enum ControlLine {
    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self) + "\n"
    }

    static func decode<Value: Decodable>(_ line: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(line.utf8))
    }
}
