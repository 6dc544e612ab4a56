internal import EventBus
internal import Monitor

/// Publishes what `segue send` was given.
struct MessageSender {
    let bus: any EventBus
    let arguments: MessageArguments
    let check: MessageCheck?
    let print: PrintOptions

    /// - Throws: ``CommandError`` when the data is not what the services say.
    func publish(_ draft: MessageDraft) async throws -> Envelope {
        try check?.check(draft.data, of: draft.type)
        var envelope = Envelope(attributes: draft.attributes(arguments, on: bus), data: draft.data)
        envelope.position = try await bus.publish(Batch([envelope]))
        return envelope
    }

    /// Publishes line by line, as the lines come. One that cannot be sent is named on standard error, and keeps none of
    /// the others back.
    ///
    /// - Throws: ``CommandError`` at the end, when there was such a line.
    func publish(_ lines: AsyncStream<String>, of type: MessageType?) async throws {
        var (number, messages, failed) = (0, 0, 0)
        var warned: Set<MessageType> = []
        for await line in lines {
            number += 1
            if line.allSatisfy(\.isWhitespace) { continue }
            messages += 1
            do {
                let sent = try await publish(MessageInput.draft(line, of: type))
                if warned.insert(sent.type).inserted { try await Recipients(bus: bus).warn(of: sent.type) }
                try await show(sent)
            } catch let error as CommandError {
                failed += 1
                await Console.error.tell("standard input:\(number): \(error)")
            } catch let error as BusError where [.refused, .malformed].contains(error.code) {
                failed += 1
                await Console.error.tell("standard input:\(number): \(error.message)".printable)
            }
        }
        guard failed == 0 else {
            throw CommandError(
                code: "bad-lines", "\(failed) of \(messages) messages could not be sent; all others were",
                status: .dataError
            )
        }
    }

    func show(_ message: Envelope) async throws {
        guard let position = message.position else { return }
        let sent = SentMessage(id: message.id, type: message.type, position: position)
        try await Console.output.writeLine(print.json ? JSONLine.text(sent) : "\(sent.id) \(position)")
    }
}
