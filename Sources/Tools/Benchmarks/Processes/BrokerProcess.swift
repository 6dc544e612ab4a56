/// A broker with sockets and a journal of its own.
struct BrokerProcess: Sendable {
    let directory: String
    let durability: Durability

    var address: String { "ipc://\(directory)/bus" }

    init(_ scratch: Scratch, _ durability: Durability, name: String = "broker") throws {
        directory = try scratch.folder(name)
        self.durability = durability
    }

    /// Runs a broker for as long as `body` does.
    /// - Parameter body: gets how long the broker took until it said that it was ready.
    /// - Throws: ``BenchmarkError`` when it does not become ready; what `body` throws.
    func run<Result: Sendable>(_ body: (Duration) async throws -> Result) async throws -> Result {
        let arguments = [
            "--bus", address, "--journal", "\(directory)/journal.sqlite", "--durability", durability.rawValue,
        ]
        return try await ReadyProcess(name: "broker", arguments: arguments, directory: directory).run(body)
    }
}
