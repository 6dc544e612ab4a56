internal import Support

/// The topic on which the feed tells the devices of a session that the journal has messages for them.
///
/// A device receives no messages on the feed, because the topics of messages are those of several sessions. It reads
/// them from the journal, where it gets only its own. The signal has the form of an ``Inbox`` answer.
package enum SessionSignal {
    private static let prefix = "\(Inbox.mark)s."

    /// The topic for a session: its hash, because the name of a session can be longer than a topic. Sessions with one
    /// hash get each other's signals, which say nothing about messages.
    package static func topic(of session: String) -> String {
        var hash = FNV1a()
        hash.combine(session.utf8)
        let digits = String(hash.value, radix: 16)
        return prefix + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// True if a topic is that of a signal.
    package static func isTopic(_ topic: some Collection<UInt8>) -> Bool { topic.starts(with: prefix.utf8) }
}
