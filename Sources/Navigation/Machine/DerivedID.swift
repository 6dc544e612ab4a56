internal import Support

/// Identifiers of the messages that a message leads to.
///
/// They are derived instead of drawn, so that a replay, and a host that was killed and handles a message again, name the
/// same message alike. The cause's own identifier is unique, so appending to it is free of collisions, costs nothing
/// and can be read in a journal; a hash of it would be none of these.
public enum DerivedID {
    /// From this length on a cause's identifier is shortened: a chain of rules that answer one another's commands must
    /// not grow it without end, and a stranger may send one of any length.
    private static let longest = 96

    /// Makes an identifier.
    ///
    /// - Parameters:
    ///   - cause: The identifier of the message that is answered.
    ///   - platform: The platform that answers it; another one answers it too.
    ///   - name: What tells it from the answer's other messages.
    /// - Returns: The same for the same three and, but for 64 bits of chance among long chains, for no others.
    public static func make(from cause: String, platform: String, name: String) -> String {
        "\(shortened(cause)).\(platform).\(name)"
    }

    /// Makes the identifier of a message that several answer a cause with: whoever sends it, it is one message.
    ///
    /// A replay does not wait for it, as the one who sent it may not take part: ``isDerived(_:from:)`` is false.
    public static func shared(from cause: String, name: String) -> String {
        "\(shortened(cause))~\(name)"
    }

    /// Whether an identifier was made from a cause's: whoever said that message says it again when told the cause again.
    public static func isDerived(_ id: String, from cause: String) -> Bool {
        id.hasPrefix("\(shortened(cause)).")
    }

    /// Begins as before, and thus with the random part of the first identifier in the chain.
    private static func shortened(_ cause: String) -> String {
        guard cause.utf8.count > longest else { return cause }
        var hash = FNV1a()
        hash.combine(cause)
        return String(String.UnicodeScalarView(cause.unicodeScalars.prefix(longest / 2))) + "~" + hash.hexadecimal
    }
}
