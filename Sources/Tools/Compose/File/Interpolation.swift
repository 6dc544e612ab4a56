import Support

/// Expands the variable references of the compose specification: `$V`, `${V}`, `${V:-default}`, `${V-default}`,
/// `${V:?error}`, `${V?error}`, `${V:+other}`, `${V+other}` and `$$`. References can be nested, up to ``deepest``
/// levels.
///
/// The values that the supervisor offers to services, such as a port, are known only when a service starts. A variable
/// with such a value counts as set. A reference to it is kept as `${V}`, and ``OfferedVariables`` expands it later.
struct Interpolation {
    struct Failure: Error, Equatable {
        let message: String
    }

    private let environment: ComposeEnvironment
    /// The names of the variables that the supervisor sets.
    private var offered: Set<String>
    /// The names of variables that are used as `$V` or `${V}` and are not set. Each became an empty string.
    private(set) var unset: Set<String> = []

    init(environment: ComposeEnvironment, offered: Set<String> = []) {
        self.environment = environment
        self.offered = offered
    }

    /// The maximum depth of nested references; deeper references are an error.
    private static let deepest = 32

    mutating func expand(_ text: some StringProtocol) throws(Failure) -> String {
        var scalars = Substring(text).unicodeScalars
        var result = String.UnicodeScalarView()
        while let scalar = scalars.popFirst() {
            if scalar == "$" {
                result += try reference(&scalars).unicodeScalars
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private mutating func reference(_ scalars: inout Substring.UnicodeScalarView) throws(Failure) -> String {
        switch scalars.first {
        case "$":
            scalars.removeFirst()
            return "$"
        case "{":
            scalars.removeFirst()
            return try braced(&scalars)
        default:
            let name = Self.consumeName(&scalars)
            guard !name.isEmpty else {
                throw Failure(message: "a lone '$' is not a variable reference (write '$$' for a dollar sign)")
            }
            return value(of: name)
        }
    }

    private mutating func braced(_ scalars: inout Substring.UnicodeScalarView) throws(Failure) -> String {
        let name = Self.consumeName(&scalars)
        guard !name.isEmpty else { throw Failure(message: "'${' is not followed by a variable's name") }
        let operation = Self.consumeOperation(&scalars)
        guard let operand = operation == nil ? "" : Self.consumeOperand(&scalars) else {
            throw Failure(message: "references are nested more than \(Self.deepest) levels deep")
        }
        guard scalars.popFirst() == "}" else {
            throw Failure(message: "'${\(name)' is not closed, or has an unknown operator")
        }
        guard let operation else { return value(of: name) }
        let set = known(name).flatMap { operation.emptyIsUnset && $0.isEmpty ? nil : $0 }
        // The operand is expanded only if it is used: `${A:-${B:?}}` must not fail when A is set.
        switch (operation.kind, set) {
        case (.alternative, nil): return ""
        case (.alternative, _?): return try expand(operand)
        case (_, let set?): return set
        case (.default, nil): return try expand(operand)
        case (.required, nil):
            let reason = try expand(operand)
            throw Failure(message: "required variable '\(name)' has no value" + (reason.isEmpty ? "" : ": \(reason)"))
        }
    }

    private mutating func value(of name: String) -> String {
        if let value = known(name) { return value }
        unset.insert(name)
        return ""
    }

    /// The value of a variable. An offered variable takes precedence over a variable of the environment with the same
    /// name, as in the service.
    private func known(_ name: String) -> String? {
        offered.contains(name) ? "${\(name)}" : environment[name]
    }

    struct Operation: Equatable {
        enum Kind: Unicode.Scalar {
            case `default` = "-"
            case required = "?"
            case alternative = "+"
        }

        let kind: Kind
        /// True if the operator has a colon. Then an empty value counts as unset.
        let emptyIsUnset: Bool
    }

    private static func consumeName(_ scalars: inout Substring.UnicodeScalarView) -> String {
        guard let first = scalars.first, first == "_" || first.isASCIILetter else { return "" }
        let name = scalars.prefix { $0 == "_" || $0.isASCIILetter || $0.isASCIIDigit }
        scalars = scalars[name.endIndex...]
        return String(name)
    }

    private static func consumeOperation(_ scalars: inout Substring.UnicodeScalarView) -> Operation? {
        let hasColon = scalars.first == ":"
        guard let kind = scalars.dropFirst(hasColon ? 1 : 0).first.flatMap(Operation.Kind.init) else { return nil }
        scalars.removeFirst(hasColon ? 2 : 1)
        return Operation(kind: kind, emptyIsUnset: hasColon)
    }

    /// Consumes everything up to the brace that closes the reference, including references and pairs of braces inside.
    ///
    /// - Returns: nil if the references are nested too deeply.
    private static func consumeOperand(_ scalars: inout Substring.UnicodeScalarView) -> Substring? {
        let bytes = Substring(scalars).utf8
        var end = bytes.startIndex
        var depth = 0
        scan: while end < bytes.endIndex {
            let next = bytes.index(after: end)
            switch (bytes[end], next < bytes.endIndex ? bytes[next] : 0) {
            case (UInt8(ascii: "$"), UInt8(ascii: "$")):
                end = bytes.index(after: next)
                continue scan
            case (UInt8(ascii: "{"), _):
                depth += 1
                guard depth < deepest else { return nil }
            case (UInt8(ascii: "}"), _):
                if depth == 0 { break scan }
                depth -= 1
            default: break
            }
            end = next
        }
        defer { scalars = scalars[end...] }
        return Substring(scalars[..<end])
    }

    struct Reference: Equatable {
        let name: String
        /// The default in `${V:-default}` or `${V-default}`, as written; nil if there is none.
        var standIn: String?
        /// True for `${V:?error}` and `${V?error}`.
        var isRequired = false
    }

    /// All variables that a string refers to, including those in the operands of other references.
    static func references(in text: some StringProtocol) -> [Reference] {
        var scalars = Substring(text).unicodeScalars
        var found: [Reference] = []
        while let scalar = scalars.popFirst() {
            guard scalar == "$" else { continue }
            if scalars.first == "$" {
                scalars.removeFirst()
                continue
            }
            let isBraced = scalars.first == "{"
            if isBraced { scalars.removeFirst() }
            var reference = Reference(name: consumeName(&scalars))
            guard !reference.name.isEmpty else { continue }
            if isBraced, let operation = consumeOperation(&scalars) {
                guard let operand = consumeOperand(&scalars) else { return found + [reference] }
                reference.standIn = operation.kind == .default ? String(operand) : nil
                reference.isRequired = operation.kind == .required
                found += [reference] + references(in: operand)
            } else {
                found.append(reference)
            }
        }
        return found
    }
}
