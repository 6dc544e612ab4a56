internal import Foundation
package import Support

/// A string with placeholders, such as `https://open.spotify.com/playlist/${screens.generatedPlaylist.playlistID}`.
///
/// A placeholder names a value by a dotted path, which begins with a ``Scope``.
///
/// `${PATH:-TEXT}` is replaced by TEXT if the value is absent, null or an empty string. `$${` stands for the text `${`,
/// and `$$${PATH}` for a dollar sign and a value.
///
/// A string that consists of one placeholder is replaced by the value itself, of any type. In all other strings, and in
/// titles, messages and URLs, the values must be strings, numbers or booleans.
package struct Template: Sendable {
    package enum Segment: Equatable, Sendable {
        case text(String)
        case placeholder(Placeholder)
    }

    /// A reference to a value.
    package struct Placeholder: Equatable, Sendable {
        /// The dotted path of the value.
        package let path: String
        /// The scope with which the path begins. Nil if it begins with another name.
        let scope: Scope?
        /// The parts of the path after the scope.
        let parts: [String]
        /// The text that replaces a value which is absent, null or empty. Nil if there is none.
        package let standby: String?
        /// True for `${PATH?}`: if the value is absent or null, the key that has the template is left out.
        package let isOptional: Bool

        /// Parses the text between `${` and `}`.
        init(_ source: Substring) {
            let (path, standby) = source.cut(at: ":-").map { ($0.before, Optional(String($0.after))) } ?? (source, nil)
            self.standby = standby
            let marked = path.removing(suffix: "?")
            isOptional = marked != nil
            self.path = String(marked ?? path)
            let (scope, rest) = self.path.cut(at: ".") ?? ("", "")
            self.scope = Scope(rawValue: String(scope))
            parts = rest.split(scalar: ".").map(String.init)
        }
    }

    package enum Problem: Error, Equatable {
        case unclosed
        case unknownScope(String)
        case incomplete(String)
        case contradictory(String)
        case calculation(String)
    }

    /// The first part of a path.
    package enum Scope: String, CaseIterable {
        case data
        case answer
        case sender
        case arguments
        case screens

        /// The paths that begin with the scope, such as `data.FIELD`.
        package var form: String {
            switch self {
            case .data, .answer: "\(rawValue).FIELD"
            case .sender, .arguments: "\(rawValue).NAME"
            case .screens: "\(rawValue).SCREEN.NAME"
            }
        }

        /// The values that the paths name.
        package var explanation: String {
            switch self {
            case .data: "A field of the message that the rule matched."
            case .answer: "A field of the answer to the rule's guard, in 'do' and 'rejected'."
            case .sender: "An argument of the open screen, or of the answered alert or dialog, that sent the message."
            case .arguments: "An argument of the sender; without a sender, of the screen in front."
            case .screens:
                "An argument of the sender if it is an instance of SCREEN, otherwise of the frontmost instance of "
                    + "SCREEN in the sender's window, otherwise of the frontmost instance."
            }
        }

        /// The forms of all paths, for an error.
        fileprivate static var forms: String { allCases.map(\.form).joined(separator: ", ") }
    }

    package let segments: [Segment]

    /// Parses a template.
    ///
    /// - Throws: ``Problem`` if a placeholder is not closed or its path is invalid.
    package init(_ source: String) throws(Problem) {
        segments = try Self.segments(of: source)
        for placeholder in placeholders { try Self.check(placeholder) }
    }

    /// Divides a string into its placeholders and the text between them. Their paths may begin with any name.
    ///
    /// - Throws: ``Problem/unclosed`` if a placeholder is not closed.
    package static func segments(of source: String) throws(Problem) -> [Segment] {
        if let whole = whole(of: source) { return [.placeholder(whole)] }
        var segments: [Segment] = []
        var literal = ""
        var rest = source[...]
        while let (text, opened) = rest.cut(at: "${") {
            // In the dollar signs directly before a brace, two stand for one; the last of an odd number opens the
            // placeholder.
            let before = text.unicodeScalars.reversed().prefix { $0 == "$" }.count
            literal += String(text.unicodeScalars.dropLast((before + 1) / 2))
            guard before.isMultiple(of: 2) else {
                literal += "${"
                rest = opened
                continue
            }
            guard let (placeholder, after) = opened.cut(at: "}") else { throw .unclosed }
            if !literal.isEmpty { segments.append(.text(literal)) }
            literal = ""
            segments.append(.placeholder(Placeholder(placeholder)))
            rest = after
        }
        literal += rest
        if !literal.isEmpty || segments.isEmpty { segments.append(.text(literal)) }
        return segments
    }

    /// The placeholder of which the string consists. Most templates do, so they are divided without a search.
    private static func whole(of source: String) -> Placeholder? {
        let utf8 = source.utf8
        guard utf8.starts(with: "${".utf8), let end = utf8.firstIndex(of: UInt8(ascii: "}")),
            utf8.index(after: end) == utf8.endIndex
        else { return nil }
        return Placeholder(source[utf8.index(utf8.startIndex, offsetBy: 2)..<end])
    }

    /// The templates among the strings within a value, by their sources. An invalid template is left out.
    static func all(in value: JSONValue) -> [String: Template] {
        var templates: [String: Template] = [:]
        func collect(_ value: JSONValue) {
            switch value {
            case .string(let source):
                guard source.contains(scalars: "${"), templates[source] == nil else { return }
                templates[source] = try? Template(source)
            case .array(let elements): elements.forEach(collect)
            case .object(let members): members.values.forEach(collect)
            default: return
            }
        }
        collect(value)
        return templates
    }

    package var placeholders: [Placeholder] {
        segments.compactMap { if case .placeholder(let placeholder) = $0 { placeholder } else { nil } }
    }

    /// The placeholder of which the template consists. Nil if there is other text, or more than one placeholder.
    package var whole: Placeholder? { segments.count == 1 ? placeholders.first : nil }

    /// The path of a template that can leave out its key, such as `${data.colour?}`. Nil for another string.
    package static func optional(in source: String) -> String? {
        guard source.contains(scalars: "?}") else { return nil }
        return (try? Template(source))?.whole.flatMap { $0.isOptional ? $0.path : nil }
    }

    /// The first text of the form `${PATH}` that an escaped dollar sign makes literal, although it would be a valid
    /// placeholder. Nil if there is none.
    package static func escapedPlaceholder(in source: String) -> String? {
        var rest = source[...]
        while let (_, opened) = rest.cut(at: "$${") {
            if let (placeholder, _) = opened.cut(at: "}"), (try? check(Placeholder(placeholder))) != nil,
                (try? segments(of: source))?.contains(.placeholder(Placeholder(placeholder))) == false
            {
                return "${\(placeholder)}"
            }
            rest = opened
        }
        return nil
    }

    /// The names of the screens in placeholders `${screens.NAME.…}`.
    var screens: [String] {
        placeholders.compactMap { placeholder in
            let parts = placeholder.path.split(scalar: ".")
            return parts[0] == Scope.screens.rawValue ? String(parts[1]) : nil
        }
    }

    /// True if the template refers to the message that a rule answers, to its sender or to the answer of a guard.
    var refersToMessage: Bool {
        placeholders.contains { placeholder in
            [Scope.data, .answer, .sender].contains { placeholder.path.begins(with: $0.rawValue + ".") }
        }
    }

    /// True if the template refers to the answer of a guard.
    var refersToAnswer: Bool { placeholders.contains { $0.path.begins(with: Scope.answer.rawValue + ".") } }

    private static func check(_ placeholder: Placeholder) throws(Problem) {
        let parts = placeholder.path.split(scalar: ".", omittingEmptySubsequences: false)
        guard let scope = Scope(rawValue: String(parts[0])) else { throw .unknownScope(String(parts[0])) }
        let least = scope == .screens ? 3 : 2
        guard parts.count >= least, parts.allSatisfy({ !$0.isEmpty }) else { throw .incomplete(placeholder.path) }
        if placeholder.isOptional, placeholder.standby != nil { throw .contradictory(placeholder.path) }
        if [" + ", " - ", " * ", " / "].contains(where: { placeholder.path.contains(scalars: $0) }) {
            throw .calculation(placeholder.path)
        }
    }
}

extension Template.Placeholder {
    /// The value of ``standby`` in a template that consists of this placeholder: a number or a boolean if the text is
    /// one in JSON, otherwise the text. Nil if there is no such text.
    package var standbyValue: JSONValue? {
        guard let standby else { return nil }
        switch try? JSONValue(parsing: Data(standby.utf8)) {
        case .bool(let value)?: return .bool(value)
        case .integer(let value)?: return .integer(value)
        case .number(let value)?: return .number(value)
        default: return .string(standby)
        }
    }
}

extension Template.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unclosed: "'${' is not closed; add '}'"
        case .unknownScope(let scope):
            "unknown name '\(scope)' in a template; use one of \(Template.Scope.forms)"
        case .incomplete(let placeholder):
            "'${\(placeholder)}' is incomplete; use one of \(Template.Scope.forms)"
        case .calculation(let path):
            "'${\(path)}' is a calculation, and templates only insert values; let a service calculate, or write a rule "
                + "for each value"
        case .contradictory(let path):
            "'${\(path)?:-…}' has both '?' and a default; remove one of them"
        }
    }
}

extension StateTransaction {
    /// Fills in all templates within a value.
    ///
    /// - Parameter declared: The declared members of an object. Those that are optional may be left out.
    func resolve(
        _ value: JSONValue, as declared: [String: JSONSchema.Property]? = nil
    ) throws(NavigationFailure) -> JSONValue {
        if let declared, case .object(let members) = value { return .object(try resolve(members, as: declared)) }
        return try resolve(value, isOptional: false) ?? .null
    }

    /// Fills in all templates among the members of an object. A member whose template has no value is left out if the
    /// template or the member's declaration is optional.
    func resolve(
        _ members: [String: JSONValue], as declared: [String: JSONSchema.Property]? = nil
    ) throws(NavigationFailure) -> [String: JSONValue] {
        if members.isEmpty { return members }
        var resolved = members
        // In the order of the names, so that a machine reports the same template each time.
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            resolved[name] = try resolve(member, isOptional: declared?[name]?.isRequired == false)
        }
        return resolved
    }

    /// Fills in all templates within a value. Nil if the value is an optional template without a value.
    ///
    /// - Parameter isOptional: True if a template that has no value is always optional.
    private func resolve(_ value: JSONValue, isOptional: Bool) throws(NavigationFailure) -> JSONValue? {
        switch value {
        case .string(let source):
            let segments = try segments(of: source)
            guard segments.count == 1, case .placeholder(let placeholder) = segments[0] else {
                return .string(try text(of: segments))
            }
            let value = self.value(of: placeholder)
            if placeholder.standby != nil, value.map(\.isBlank) ?? true { return placeholder.standbyValue }
            if isOptional || placeholder.isOptional { return value.flatMap { $0.isNull ? nil : $0 } }
            guard let value else { throw .unresolved(placeholder.path) }
            return value
        case .array(let elements):
            return .array(try elements.map { element throws(NavigationFailure) in try resolve(element) })
        case .object(let members):
            return .object(try resolve(members))
        default: return value
        }
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
            // The checks of the flow have checked the paths.
            return try flow.program.segments(of: source)
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
                let value = value(of: placeholder)
                if let standby = placeholder.standby, value.map(\.isBlank) ?? true {
                    text += encode(standby)
                    continue
                }
                switch value {
                case nil: throw .unresolved(placeholder.path)
                case .string(let string)?: text += encode(string)
                case .null?, .array?, .object?: throw .unprintable(placeholder.path)
                case let value?: text += encode(value.description)
                }
            }
        }
        return text
    }

    /// The value that a placeholder names. Nil if there is none.
    private func value(of placeholder: Template.Placeholder) -> JSONValue? {
        switch placeholder.scope {
        case .data: (asked?.data ?? input.data).value(at: placeholder.parts)
        case .answer: asked == nil ? nil : input.data.value(at: placeholder.parts)
        case .sender: sender.flatMap { JSONValue.object($0.arguments).value(at: placeholder.parts) }
        case .arguments: JSONValue.object((sender ?? before.top(from: focus)).arguments).value(at: placeholder.parts)
        case .screens: argument(at: placeholder.parts)
        case nil: nil
        }
    }

    /// The argument at the path after the name of a screen. Nil if no instance of the screen is open, or if it does not
    /// have this argument.
    private func argument(at parts: [String]) -> JSONValue? {
        guard let screen = parts.first, parts.count > 1 else { return nil }
        let instances = [sender].compactMap(\.self) + before.openFromFront
        let candidates = instances.filter { $0.screen == screen }
        let own = focus.window.flatMap { window in candidates.first { before.window(of: $0.id) == window } }
        return (own ?? candidates.first).flatMap { JSONValue.object($0.arguments).value(at: Array(parts.dropFirst())) }
    }
}

extension JSONValue {
    /// True for null and the empty string, which a default replaces.
    fileprivate var isBlank: Bool { isNull || self == "" }
}
