internal import Foundation
internal import Support

/// A string with placeholders, such as `https://open.spotify.com/playlist/${screens.generatedPlaylist.playlistID}`.
///
/// A placeholder names a value by a dotted path that begins with one of
/// - `data`: the data of the message that the rule matched,
/// - `answer`: the data of the message that answered the rule's guard,
/// - `sender`: the arguments of the open screen that sent the message,
/// - `arguments`: the same; if no open screen sent the message, the arguments of the screen in front,
/// - `screens.NAME`: the arguments of an instance of a screen: the sender, if it is such an instance, otherwise the
///   frontmost one in the sender's window, otherwise the frontmost one.
///
/// A string that consists of one placeholder is replaced by the value itself, of any type. In all other strings, and in
/// titles, messages and URLs, the values must be strings, numbers or booleans.
package struct Template {
    package enum Segment: Equatable {
        case text(String)
        case placeholder(String)
    }

    package enum Problem: Error, Equatable {
        case unclosed
        case unknownScope(String)
        case incomplete(String)
    }

    package enum Scope: String, CaseIterable {
        case data
        case answer
        case sender
        case arguments
        case screens
    }

    package let segments: [Segment]

    /// Parses a template.
    ///
    /// - Throws: ``Problem`` if a placeholder is not closed or its path is invalid.
    package init(_ source: String) throws(Problem) {
        segments = try Self.segments(of: source)
        for case .placeholder(let placeholder) in segments { try Self.check(placeholder) }
    }

    /// Divides a string into its placeholders and the text between them. Their paths may begin with any name.
    ///
    /// - Throws: ``Problem/unclosed`` if a placeholder is not closed.
    package static func segments(of source: String) throws(Problem) -> [Segment] {
        var segments: [Segment] = []
        var rest = source[...]
        while let (text, opened) = rest.cut(at: "${") {
            guard let (placeholder, after) = opened.cut(at: "}") else { throw .unclosed }
            if !text.isEmpty { segments.append(.text(String(text))) }
            segments.append(.placeholder(String(placeholder)))
            rest = after
        }
        if !rest.isEmpty || segments.isEmpty { segments.append(.text(String(rest))) }
        return segments
    }

    /// The names of the screens in placeholders `${screens.NAME.…}`.
    var screens: [String] {
        segments.compactMap { segment in
            guard case .placeholder(let placeholder) = segment else { return nil }
            let parts = placeholder.split(scalar: ".")
            return parts[0] == Scope.screens.rawValue ? String(parts[1]) : nil
        }
    }

    /// True if the template refers to the message that a rule answers, to its sender or to the answer of a guard.
    var refersToMessage: Bool {
        segments.contains { segment in
            guard case .placeholder(let placeholder) = segment else { return false }
            return [Scope.data, .answer, .sender].contains { placeholder.begins(with: $0.rawValue + ".") }
        }
    }

    /// True if the template refers to the answer of a guard.
    var refersToAnswer: Bool {
        segments.contains { segment in
            guard case .placeholder(let placeholder) = segment else { return false }
            return placeholder.begins(with: Scope.answer.rawValue + ".")
        }
    }

    private static func check(_ placeholder: String) throws(Problem) {
        let parts = placeholder.split(scalar: ".", omittingEmptySubsequences: false)
        guard let scope = Scope(rawValue: String(parts[0])) else { throw .unknownScope(String(parts[0])) }
        let least = scope == .screens ? 3 : 2
        guard parts.count >= least, parts.allSatisfy({ !$0.isEmpty }) else { throw .incomplete(placeholder) }
    }
}

extension Template.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unclosed: "'${' is not closed; add '}'"
        case .unknownScope(let scope):
            "unknown name '\(scope)' in a template; "
                + "use data.FIELD, answer.FIELD, arguments.NAME, sender.NAME or screens.SCREEN.NAME"
        case .incomplete(let placeholder):
            "'${\(placeholder)}' is incomplete; "
                + "use data.FIELD, answer.FIELD, arguments.NAME, sender.NAME or screens.SCREEN.NAME"
        }
    }
}

extension StateTransaction {
    /// Fills in all templates within a value.
    func resolve(_ value: JSONValue) throws(NavigationFailure) -> JSONValue {
        switch value {
        case .string(let source):
            let segments = try segments(of: source)
            if segments.count == 1, case .placeholder(let placeholder) = segments[0] {
                return try self.value(at: placeholder)
            }
            return .string(try text(of: segments))
        case .array(let elements):
            return .array(try elements.map { element throws(NavigationFailure) in try resolve(element) })
        case .object(let members):
            return .object(try resolve(members))
        default: return value
        }
    }

    /// Fills in all templates among the members of an object.
    func resolve(_ members: [String: JSONValue]) throws(NavigationFailure) -> [String: JSONValue] {
        var resolved = members
        for (name, member) in members { resolved[name] = try resolve(member) }
        return resolved
    }

    /// Fills in a template whose result must be a string.
    func resolveText(_ source: String) throws(NavigationFailure) -> String {
        try text(of: segments(of: source))
    }

    /// Fills in the template of a URL.
    ///
    /// Values that are combined with other text are percent-encoded, so a value cannot add a path segment or a query
    /// (RFC 3986, 2.4). If the template is only one placeholder, its value must be a URL and is not encoded.
    func resolveURL(_ source: String) throws(NavigationFailure) -> String {
        let segments = try segments(of: source)
        let url = try segments.count == 1 ? text(of: segments) : text(of: segments, encode: PercentEncoding.encode)
        guard URL(string: url)?.scheme?.isEmpty == false else { throw .invalidURL(url) }
        return url
    }

    private func segments(of source: String) throws(NavigationFailure) -> [Template.Segment] {
        if isLiteral { return [.text(source)] }
        do {
            return try Template(source).segments
        } catch {
            throw .unresolved(source)
        }
    }

    private func text(
        of segments: [Template.Segment],
        encode: (String) -> String = { $0 }
    ) throws(NavigationFailure) -> String {
        var text = ""
        for segment in segments {
            switch segment {
            case .text(let literal): text += literal
            case .placeholder(let placeholder):
                switch try value(at: placeholder) {
                case .string(let string): text += encode(string)
                case .null, .array, .object: throw .unprintable(placeholder)
                case let value: text += encode(value.description)
                }
            }
        }
        return text
    }

    private func value(at placeholder: String) throws(NavigationFailure) -> JSONValue {
        let parts = placeholder.split(scalar: ".", maxSplits: 1).map(String.init)
        let value: JSONValue? =
            switch Template.Scope(rawValue: parts[0]) {
            case .data: (asked ?? input).data.value(at: parts[1])
            case .answer: asked == nil ? nil : input.data.value(at: parts[1])
            case .sender: sender.flatMap { JSONValue.object($0.arguments).value(at: parts[1]) }
            case .arguments: JSONValue.object((sender ?? before.top(from: focus)).arguments).value(at: parts[1])
            case .screens: argument(at: parts[1])
            case nil: nil
            }
        guard let value else { throw .unresolved(placeholder) }
        return value
    }

    /// The argument that the path `SCREEN.NAME` names. Nil if no instance of the screen is open, or if it does not have
    /// this argument.
    private func argument(at placeholder: String) -> JSONValue? {
        let parts = placeholder.split(scalar: ".", maxSplits: 1).map(String.init)
        let instances = [sender].compactMap(\.self) + before.openFromFront
        let candidates = instances.filter { $0.screen == parts[0] }
        let own = focus.window.flatMap { window in candidates.first { before.window(of: $0.id) == window } }
        return (own ?? candidates.first).flatMap { JSONValue.object($0.arguments).value(at: parts[1]) }
    }
}
