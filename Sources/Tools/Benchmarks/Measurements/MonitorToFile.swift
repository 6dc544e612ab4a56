internal import Foundation
internal import Subprocess
internal import SystemPackage

/// Measures a `segue monitor` that writes a long journal to a file as JSON, from the start to the end of its process.
/// The baseline is a subscriber that only counts the messages of the same journal.
struct MonitorToFile {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability)
        let filler = broker.filler()
        let reader = broker.peer(.busSubscriber)
        let comparison = try await broker.run { _ in
            try await PeerProcess.run([filler, reader]) {
                try await filler.perform(.run(run.messages))
                return try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                ) {
                    try await reader.catchUp($0)
                } value: {
                    try await write($0, from: broker)
                }
            }
        }
        let result = run.result(
            comparison.map(\.rate), unit: "messages/s", baseline: "a subscriber that counts", processes: 2,
            settings: comparison.losses, failure: comparison.failure)
        return [result]
    }

    private func write(_ count: Int, from broker: BusProcess) async throws -> Delivery {
        let path = "\(broker.directory)/messages.json"
        let file = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
        let configuration = Executables.configuration(
            try Executables.path(of: "segue"),
            [
                "monitor", "--bus", broker.address, "--since", "beginning", "--until", "end", "--count", "\(count)",
                "--json",
            ])
        let begin = MonotonicTime.now
        _ = try await Subprocess.run(
            configuration, input: .none, output: .fileDescriptor(file, closeAfterSpawningProcess: true),
            error: .currentStandardError)
        let end = MonotonicTime.now
        // Each line is a message. The order is not checked.
        let lines = try Data(contentsOf: URL(fileURLWithPath: path)).count { $0 == UInt8(ascii: "\n") }
        return Delivery(Report(begin: begin, end: end, count: lines), expected: count)
    }
}
