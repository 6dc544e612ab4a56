extension Interpolation {
    struct Operation: Equatable {
        enum Kind: Character {
            case `default` = "-"
            case required = "?"
            case alternative = "+"
        }

        let kind: Kind
        /// Written with a colon: an empty value counts as none.
        let emptyIsUnset: Bool
    }

    static func takeName(_ rest: inout Substring) -> String {
        guard let first = rest.first, first == "_" || first.isASCII && first.isLetter else { return "" }
        let name = rest.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        rest = rest[name.endIndex...]
        return String(name)
    }

    static func takeOperation(_ rest: inout Substring) -> Operation? {
        let hasColon = rest.first == ":"
        guard let kind = rest.dropFirst(hasColon ? 1 : 0).first.flatMap(Operation.Kind.init) else { return nil }
        rest.removeFirst(hasColon ? 2 : 1)
        return Operation(kind: kind, emptyIsUnset: hasColon)
    }

    /// Everything up to the brace that closes the reference, references inside included.
    ///
    /// - Returns: `nil` when they are nested too deep. Each level is looked through again within the one around it, so
    ///   that otherwise a long text would take far longer than its length.
    static func takeOperand(_ rest: inout Substring) -> Substring? {
        let bytes = rest.utf8
        var end = bytes.startIndex
        var depth = 0
        scan: while end < bytes.endIndex {
            let next = bytes.index(after: end)
            switch (bytes[end], next < bytes.endIndex ? bytes[next] : 0) {
            case (UInt8(ascii: "$"), UInt8(ascii: "$")):
                end = bytes.index(after: next)
                continue scan
            case (UInt8(ascii: "$"), UInt8(ascii: "{")):
                depth += 1
                guard depth < deepest else { return nil }
            case (UInt8(ascii: "}"), _):
                if depth == 0 { break scan }
                depth -= 1
            default: break
            }
            end = next
        }
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    struct Reference: Equatable {
        let name: String
        /// Of `${V:-default}`, as written.
        var standIn: String?
        /// `${V:?}`
        var isRequired = false
    }

    /// Every variable that a text refers to, those within the operands of others included.
    static func references(in text: some StringProtocol) -> [Reference] {
        var rest = Substring(text)
        var found: [Reference] = []
        while let character = rest.popFirst() {
            guard character == "$" else { continue }
            if rest.first == "$" {
                rest.removeFirst()
                continue
            }
            let isBraced = rest.first == "{"
            if isBraced { rest.removeFirst() }
            var reference = Reference(name: takeName(&rest))
            guard !reference.name.isEmpty else { continue }
            if isBraced, let operation = takeOperation(&rest) {
                guard let operand = takeOperand(&rest) else { return found + [reference] }
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
