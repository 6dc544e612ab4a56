internal import BusFormat
internal import EventBus
internal import Support

/// Measures the time in which the header and the data of a command are written, and the time in which they are read. The
/// baseline is ``HandWrittenCommand``.
struct EnvelopeCoding {
    let run: BenchmarkRun

    func measure() async throws -> [BenchmarkResult] {
        let attributes = Self.attributes
        let command = BenchmarkCommand(number: 1, name: "Deep Work")
        let hand = HandWrittenCommand(attributes, command)
        let (header, data) = (hand.header, hand.data)
        let writing = try await comparison {
            hand.header.count + hand.data.count
        } value: {
            try attributes.json.count + JSONWriter.bytes(of: command).count
        }
        let reading = try await comparison {
            HandWrittenCommand(header: header, data: data).map { $0.id.utf8.count + $0.number } ?? 0
        } value: {
            let envelope = try Envelope(header: header[...], data: data[...])
            return try envelope.id.utf8.count + envelope.decode(BenchmarkCommand.self).number
        }
        let receiving = try await comparison {
            UnreadCommand(header: header[...], data: data[...]).data.count
        } value: {
            try Envelope(header: header[...], data: data[...]).data.count
        }
        func result(_ part: String, _ comparison: BaselineComparison<Double>, _ baseline: String) -> BenchmarkResult {
            run.result(
                comparison, part: part, unit: "ns", baseline: baseline, processes: 1,
                settings: ["dataBytes": .count(data.count), "headerBytes": .count(header.count)])
        }
        return [
            result("write", writing, "a function written by hand"),
            result("read", reading, "a function written by hand"),
            result("unread", receiving, "a copy of the data"),
        ]
    }

    /// - Parameters: Functions that handle the command once. The sum of their results is not 0.
    private func comparison(
        baseline: () throws -> Int, value: () throws -> Int
    ) async throws -> BaselineComparison<Double> {
        try await BaselineComparison(
            rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
        ) { count in
            try nanoseconds(count, baseline)
        } value: { count in
            try nanoseconds(count, value)
        }
    }

    /// The time of one call, in nanoseconds.
    private func nanoseconds(_ count: Int, _ body: () throws -> Int) throws -> Double {
        var sum = 0
        let begin = MonotonicTime.now
        for _ in 0..<count { sum += try body() }
        let end = MonotonicTime.now
        // Without a use of the results, the compiler could remove the calls.
        guard sum > 0 else { throw BenchmarkError("the command cannot be read") }
        return Double(end - begin) / Double(count)
    }

    private static var attributes: Attributes {
        var attributes = Attributes(type: BenchmarkCommand.type, source: "device/ios-1", subject: "anna")
        attributes.origin = Origin(platform: "ios", device: "ios-1", instance: "playlistSelection-3")
        attributes.expireAsUsual()
        return attributes
    }
}

/// The command that is written and read.
struct BenchmarkCommand: CommandMessage {
    let number: Int
    let name: String
}
