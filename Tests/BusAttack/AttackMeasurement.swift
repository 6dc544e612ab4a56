internal import Broker
internal import BusKeys
internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import Support
internal import TestSupport
internal import ZeroMQEventBus

/// How long an honest client waits for the answers to its batches: without an attack, while a program that does not use
/// the bus computes on each of two cores, and during an attack.
///
/// The broker and the client are in this process, the attacker is in another one, which may use one core. The broker
/// works for it on another core, so the client also waits for the scheduler of the kernel. The second case tells how long
/// it waits for the scheduler alone.
package struct AttackMeasurement: Sendable {
    private let attack: Attack
    private let duration: Duration
    private let runs: Int

    /// 99th percentiles in milliseconds.
    private struct Waits {
        let calm: Double
        /// While a program computes on each of two cores.
        let busy: Double
        let attacked: Double
    }

    package init(_ attack: Attack, duration: Duration, runs: Int) {
        (self.attack, self.duration, self.runs) = (attack, duration, runs)
    }

    /// Attacks a broker until the process is killed.
    package static func attack(_ attack: Attack, on address: String, with key: String) async throws {
        let attacker = try Attacker(attack, on: address, with: KeyFile(path: key))
        while !Task.isCancelled { try await Task.sleep(for: .seconds(3600)) }
        attacker.stop()
    }

    /// Computes until the process is killed.
    package static func compute() -> Never {
        while true {}
    }

    /// Measures, and describes the medians in a line.
    package func line() async throws -> String {
        var waits: [Waits] = []
        for _ in 0..<runs {
            let scratch = try ScratchFolder()
            defer { scratch.remove() }
            let keys = try KeyFolder.create(scratch.path + "/keys")
            for name in ["honest", "hostile"] { _ = try keys.add(name) }
            var configuration = BrokerConfiguration(
                address: "tcp://127.0.0.1:\(Int.random(in: 5_000..<16_000) * 2)",
                journal: scratch.path + "/journal.sqlite")
            configuration.keys = keys
            waits.append(try await measure(configuration, keys))
        }
        let (calm, busy) = (Self.median(waits.map(\.calm)), Self.median(waits.map(\.busy)))
        let attacked = Self.median(waits.map(\.attacked))
        return String(
            format:
                "%@: p99 %.1f ms; %.1f times %.1f ms without the attack, %.1f times %.1f ms while both cores compute; "
                + "at most %d MiB of memory",
            attack.rawValue, attacked, attacked / calm, calm, attacked / busy, busy, Self.memory >> 10)
    }

    private func measure(_ configuration: BrokerConfiguration, _ keys: KeyFolder) async throws -> Waits {
        let ready = Latch()
        let address = configuration.address
        Broker.prepareProcess()
        return try await withBackground([
            {
                let logger = Logger(label: "broker") { _ in SwiftLogNoOpLogHandler() }
                try await Broker(configuration, logger: logger).run { ready.open() }
            }
        ]) {
            try await ready.waitUntilOpen()
            let bus = EventBus(
                try ZeroMQEventBus(
                    address: address, source: "honest/1", keyFile: keys.file(of: "honest"), logger: .silent))
            return try await bus.whileOpen {
                // What a page has to search.
                for _ in 0..<20 {
                    try await bus.publish(Batch((0..<1000).map { _ in try Self.message() }))
                }
                let calm = try await percentile(of: bus)
                let busy = try await percentile(of: bus, beside: [0, 1].map { ($0, ["--compute"]) })
                let attack = ["--attack", attack.rawValue, "--target", address, "--key", keys.file(of: "hostile")]
                return Waits(
                    calm: calm, busy: busy, attacked: try await percentile(of: bus, beside: [(1, attack)]))
            }
        }
    }

    /// The 99th percentile of the time to an answer while this program also runs on these cores, with these arguments.
    private func percentile(of bus: EventBus, beside others: [(core: Int, arguments: [String])]) async throws -> Double
    {
        var processes: [Process] = []
        defer {
            for process in processes {
                process.terminate()
                process.waitUntilExit()
            }
        }
        for other in others {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/taskset")
            process.arguments = ["-c", "\(other.core)", CommandLine.arguments[0]] + other.arguments
            try process.run()
            processes.append(process)
        }
        // The others need time to begin.
        _ = try await percentile(of: bus)
        return try await percentile(of: bus)
    }

    private static func message() throws -> Envelope {
        try Envelope(DomainEvent.Greeted(name: "Anna"), source: "honest/1")
    }

    /// The 99th percentile of the time to an answer, in milliseconds.
    private func percentile(of bus: EventBus) async throws -> Double {
        let end = ContinuousClock.now + duration
        var times: [Double] = []
        while ContinuousClock.now < end {
            let start = ContinuousClock.now
            try await bus.publish(Batch([try Self.message()]))
            times.append((.now - start) / .milliseconds(1))
            // A client that is seldom heard finds the broker at work for the attacker.
            try await Task.sleep(for: .milliseconds(2))
        }
        times.sort()
        return times[min(times.count - 1, times.count * 99 / 100)]
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// The memory of this process, in KiB.
    private static var memory: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap {
            Int($0.trimmingPrefix { $0 == "\t" })
        } ?? 0
    }
}
