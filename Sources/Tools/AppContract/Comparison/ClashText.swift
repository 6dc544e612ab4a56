internal import Contracts
internal import MessageSchema

extension JSONSchema.Clash.Reason {
    /// What a sender's change means to those who read as before.
    func whenSending(to readers: String) -> String {
        switch self {
        case .missing: "no longer sent, but needed by \(readers); keep sending it"
        case .optional: "may be left out now, but needed by \(readers); keep it required"
        case .null: "may be null now, which is refused by \(readers); leave it out instead"
        case .value(let value): "may be \(value) now, which is unknown to \(readers); teach them first"
        case .form(let writes, let reads):
            "\(writes) now, but read as \(reads) by \(readers); give the new form a name of its own"
        }
    }

    /// What a receiver's change means to those who send as before.
    func whenReceiving(from writers: String) -> String {
        switch self {
        case .missing: "needed now, but not sent by \(writers); make it optional"
        case .optional: "needed now, but may be left out by \(writers); make it optional"
        case .null: "refused now when it is null, as it may be from \(writers); take it for absent"
        case .value(let value): "\(value) is unknown now, but may be sent by \(writers); keep it"
        case .form(let writes, let reads):
            "read as \(reads) now, but \(writes) from \(writers); give the new form a name of its own"
        }
    }
}

extension JSONSchema? {
    /// Each place in it, and what is there.
    func leaves(_ path: String) -> [String: String] {
        var leaves: [String: String] = [:]
        self?.collect(path, "", into: &leaves)
        return leaves
    }
}

extension JSONSchema {
    fileprivate func collect(_ path: String, _ suffix: String, into leaves: inout [String: String]) {
        leaves[path] = "\(self)\(suffix)"
        switch self {
        case .array(let elements): elements.collect("\(path)[]", "", into: &leaves)
        case .map(let members): members.collect("\(path).*", "", into: &leaves)
        case .nullable(let schema): schema.collect(path, " or null\(suffix)", into: &leaves)
        case .object(let members):
            for (name, member) in members {
                member.schema.collect("\(path).\(name)", member.isRequired ? "" : ", optional", into: &leaves)
            }
        default: break
        }
    }
}
