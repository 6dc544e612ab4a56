package import NATS
package import NATSLayout
internal import Support

/// The streams of a bus on NATS. Only the steward makes them.
package struct JournalStreams: Sendable {
    /// The number of servers that store each stream: 1, 3 or 5. Nil for the number that the streams have; 1 for new
    /// ones.
    package var replicas: Int?
    /// The size in bytes at which the server itself removes the oldest messages of the journal. Nil for no limit.
    package var maximumSize: Int?

    package init(replicas: Int? = nil, maximumSize: Int? = nil) {
        self.replicas = replicas
        self.maximumSize = maximumSize
    }

    /// The room in bytes that the servers need beside twice the size of the journal, without documents and dead letters:
    /// a file of 8 MiB in which some messages are removed, and, in a cluster, the logs of each stream and of the servers.
    package static let overhead = 64 << 20

    /// Makes the streams that do not exist, and adapts the others. The size of a journal is only raised: the steward
    /// keeps a smaller limit by itself, after it has counted what consumers lose. The epoch of a new journal is random.
    /// - Returns: The stream of the journal.
    /// - Throws: ``NATSError`` or ``JetStreamError``.
    @discardableResult
    package func make(_ names: StreamNames, on jetStream: JetStream) async throws -> StreamInfo {
        // The journal comes last: clients wait for it, and then use all streams.
        _ = try await make(
            names.documents, names.documentSubjects, more: ["max_msgs_per_subject": 1], on: jetStream)
        // The room is reserved only until there is a journal, so that too little room is found at the start.
        let room = maximumSize == nil ? -1 : Self.overhead
        _ = try await make(
            names.deadLetters, names.deadLetterSubjects, more: ["max_bytes": .integer(room)], on: jetStream)
        let journal: [String: JSONValue] = [
            "deny_delete": true, "duplicate_window": .integer(120_000_000_000),
            "max_bytes": .integer(maximumSize ?? -1),
            "metadata": .object([
                JournalMetadata.epochKey: .string(JournalMetadata.text(of: Self.newEpoch())),
                JournalMetadata.layoutKey: .string(JournalMetadata.layout),
            ]),
        ]
        let info = try await make(names.journal, names.journalSubjects, more: journal, on: jetStream)
        _ = try await make(names.deadLetters, names.deadLetterSubjects, more: ["max_bytes": -1], on: jetStream)
        return info
    }

    /// A random epoch.
    static func newEpoch() -> UInt64 { UInt64.random(in: 1...UInt64(Int64.max)) }

    private func make(
        _ name: String, _ subjects: [String], more: [String: JSONValue], on jetStream: JetStream
    ) async throws -> StreamInfo {
        let settings: [String: JSONValue] = [
            "name": .string(name), "subjects": .array(subjects.map { .string($0) }), "storage": "file",
            "retention": "limits", "discard": "old", "num_replicas": .integer(replicas ?? 1),
            "allow_direct": true,
        ]
        while true {
            do {
                return try await adapt(try await jetStream.stream(name), more, on: jetStream)
            } catch let error as JetStreamError where error.code == .streamNotFound {}
            do {
                return try await jetStream.createStream(.object(settings.merging(more) { $1 }))
            } catch let error as JetStreamError where error.code == .streamNameInUse {
                // Another steward has made it meanwhile. In a cluster, its leader may not have found it yet.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private func adapt(
        _ info: StreamInfo, _ wanted: [String: JSONValue], on jetStream: JetStream
    ) async throws -> StreamInfo {
        guard case .object(var settings) = info.settings else { return info }
        if let replicas { settings["num_replicas"] = .integer(replicas) }
        if let size = wanted["max_bytes"]?.integerValue, let known = settings["max_bytes"]?.integerValue, known > 0,
            size < 0 || size > known
        {
            settings["max_bytes"] = .integer(size)
        }
        let adapted = JSONValue.object(settings)
        return adapted == info.settings ? info : try await jetStream.updateStream(adapted)
    }
}
