internal import EventBus

/// Publishes what `segue send` was given.
struct MessageSender {
    let bus: any EventBus
    let arguments: MessageArguments
    let check: MessageCheck?
    let print: PrintOptions

    /// - Throws: ``CommandError`` when the data is not what the services say.
    func publish(_ draft: MessageDraft) async throws -> Envelope {
        var envelope = try envelope(draft)
        envelope.position = try await bus.publish(Batch([envelope]))
        return envelope
    }

    /// What is to be published.
    /// - Throws: ``CommandError`` when the data is not what the services say.
    func envelope(_ draft: MessageDraft) throws(CommandError) -> Envelope {
        try check?.check(draft.data, of: draft.type)
        return Envelope(attributes: draft.attributes(arguments, on: bus), data: draft.data)
    }

    /// - Parameter messages: as they were published.
    func show(_ messages: [Envelope]) async throws {
        let lines = try messages.compactMap { message in
            try message.position.map { position in
                let sent = SentMessage(message, at: position)
                if print.json { return try JSONLine.text(sent) }
                return "\(sent.id) \(position)" + (sent.expirytime.map { " expires \($0)" } ?? "")
            }
        }
        try await Console.output.write(lines.map { "\($0)\n" }.joined())
    }
}
