internal import EventBus
internal import Foundation
internal import Monitor
internal import Support
internal import SystemPackage

/// Publishes a message for each line that is not blank, in the order of the lines. Lines that arrive together are
/// published in batches.
///
/// A line that is not a message, or whose message the bus refuses, is reported on standard error, and the lines after
/// it are still sent.
struct LineSender {
    /// The maximum number of messages in a batch: as many as the bus accepts. A full batch is published at once.
    private static let batchLimit = Limits.batchCount

    private typealias Entry = (line: Int, message: Envelope)

    private let sender: MessageSender
    /// The type of all messages. Nil if each line contains its own type.
    private let type: MessageType?
    private var batch: [Entry] = []
    private var (line, messages, sent) = (0, 0, 0)
    private var warned: Set<MessageType> = []
    /// True if standard output has no reader any more, as in `segue send --stdin | head -1`. The messages are still
    /// published.
    private var isReceiptPipeBroken = false

    init(_ sender: MessageSender, type: MessageType?) {
        (self.sender, self.type) = (sender, type)
    }

    /// - Throws: ``CommandError`` after the last line if a line could not be sent; at once if standard input cannot be
    ///   read or a line is too long.
    mutating func publish(_ input: AsyncThrowingStream<[Data], any Error>) async throws {
        do {
            for try await lines in input {
                for line in lines { try await handle(line) }
                try await flush()
            }
        } catch let error as CommandError {
            throw CommandError(
                code: error.code, error.message, recovery: "messages sent before it: \(sent)", status: error.status)
        }
        guard sent < messages else { return }
        throw CommandError(
            code: "bad-lines", "\(messages - sent) of \(messages) messages could not be sent; all other messages were",
            status: .dataError)
    }

    private mutating func handle(_ text: Data) async throws {
        line += 1
        if text.allSatisfy({ [0x09, 0x0D, 0x20].contains($0) }) { return }
        messages += 1
        do throws(CommandError) {
            batch.append((line, try sender.envelope(MessageInput.draft(text, of: type))))
        } catch {
            // The lines before the invalid line are published first, so that output and errors are in the order of the
            // lines.
            try await flush()
            return await refuse(line, "\(error)")
        }
        if batch.count == Self.batchLimit { try await flush() }
    }

    private mutating func flush() async throws {
        try await publish(batch[...])
        batch = []
    }

    /// Publishes a batch. If the bus refuses it, publishes each half separately, down to single messages.
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

    /// - Parameter last: the position of the last message. The positions of a batch are consecutive.
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
        if !isReceiptPipeBroken {
            do { try await sender.show(messages) } catch Errno.brokenPipe { isReceiptPipeBroken = true }
        }
    }

    private func refuse(_ line: Int, _ reason: String) async {
        await Console.error.tell("standard input:\(line): \(reason)")
    }
}
