internal import EventBus
internal import Monitor

/// Publishes line by line: what has come together goes out together, in the order of the lines.
///
/// A line that cannot be sent is named on standard error, and keeps none of the others back.
struct LineSender {
    /// Of a batch; a bus takes several times as many.
    private static let batchLimit = 256

    private typealias Entry = (line: Int, message: Envelope)

    private let sender: MessageSender
    /// Of each; without one, each says its own.
    private let type: MessageType?
    private var batch: [Entry] = []
    private var (line, messages, sent) = (0, 0, 0)
    private var warned: Set<MessageType> = []

    init(_ sender: MessageSender, type: MessageType?) {
        (self.sender, self.type) = (sender, type)
    }

    /// - Throws: ``CommandError`` at the end, when there was a line that could not be sent, or be read.
    mutating func publish(_ input: AsyncThrowingStream<[String], any Error>) async throws {
        do {
            for try await lines in input {
                for line in lines { try await take(line) }
                try await flush()
            }
        } catch let error as CommandError {
            throw CommandError(
                code: error.code, error.message, recovery: "messages sent before it: \(sent)", status: error.status)
        }
        guard sent < messages else { return }
        throw CommandError(
            code: "bad-lines", "\(messages - sent) of \(messages) messages could not be sent; all others were",
            status: .dataError)
    }

    private mutating func take(_ text: String) async throws {
        line += 1
        if text.allSatisfy(\.isWhitespace) { return }
        messages += 1
        do throws(CommandError) {
            batch.append((line, try sender.envelope(MessageInput.draft(text, of: type))))
        } catch {
            // What stands before it is told of before it.
            try await flush()
            return await refuse(line, "\(error)")
        }
        if batch.count == Self.batchLimit { try await flush() }
    }

    private mutating func flush() async throws {
        try await publish(batch[...])
        batch = []
    }

    /// The bus takes all or none, and does not say which one it minds: each half is tried for itself.
    private mutating func publish(_ entries: ArraySlice<Entry>) async throws {
        guard let first = entries.first else { return }
        do {
            try await published(entries, last: sender.bus.publish(Batch(entries.map(\.message))))
        } catch let error as BusError where [.refused, .malformed].contains(error.code) {
            if entries.count == 1 { return await refuse(first.line, error.message) }
            let middle = entries.startIndex + entries.count / 2
            try await publish(entries[..<middle])
            try await publish(entries[middle...])
        }
    }

    /// - Parameter last: where the last of them is; they stand one behind the other.
    private mutating func published(_ entries: ArraySlice<Entry>, last: Position) async throws {
        sent += entries.count
        let messages = entries.enumerated().map { index, entry in
            var message = entry.message
            message.position = Position(epoch: last.epoch, offset: last.offset - UInt64(entries.count - 1 - index))
            return message
        }
        for message in messages where warned.insert(message.type).inserted {
            try await sender.warn(of: message.type)
        }
        try await sender.show(messages)
    }

    private func refuse(_ line: Int, _ reason: String) async {
        await Console.error.tell("standard input:\(line): \(reason)".printable)
    }
}
