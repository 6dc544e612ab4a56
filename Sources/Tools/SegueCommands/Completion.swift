internal import AppContract
internal import ArgumentParser
internal import Compose
internal import Contracts
internal import EventBus
internal import MessageSchema
internal import Navigation
internal import Support

// What a shell is offered. Whatever goes wrong meanwhile, such as a compose file that cannot be read, offers nothing: a
// person who types must not be interrupted.
extension CompletionKind {
    /// The services of the project or of the compose file that the line names, or else of this folder's.
    static let services = CompletionKind.custom { words, _, _ in CompletionScope(words).services }

    static let messageTypes = CompletionKind.custom { words, _, _ in
        await CompletionScope(words).contract()?.types.filter { $0.kind != .query }.map(\.description) ?? []
    }

    /// Names without the kind, as `get` and `ask` take them.
    static func messageNames(of kind: MessageKind) -> CompletionKind {
        .custom { words, _, _ in
            await CompletionScope(words).contract()?.types.filter { $0.kind == kind }.map(\.name) ?? []
        }
    }

    /// An object with the fields of the message that the line names, to be filled in.
    static let messageData = CompletionKind.custom { words, _, _ in
        let scope = CompletionScope(words)
        return await scope.contract().flatMap { scope.message(in: $0)?.data }
            .map { [CompletionShell.quoted($0.template.description)] } ?? []
    }

    /// The paths of the fields of the message that the line names, as in `data.url`.
    static let messagePaths = CompletionKind.custom { words, _, _ in
        let scope = CompletionScope(words)
        return await scope.contract().flatMap { scope.message(in: $0)?.data?.fields }
            .map { $0.filter(\.isWord).sorted().map { "data.\($0)" } } ?? []
    }
}

/// What the line that is being written is about.
struct CompletionScope {
    /// As long as a person takes no offence at.
    private static let patience: Duration = .milliseconds(700)

    private let words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    private func value(of names: String...) -> String? {
        words.lastIndex { names.contains($0) }.flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
    }

    private var projectArguments: [String] {
        value(of: "-p", "--project-name").map { ["-p", $0] } ?? []
    }

    private var busArguments: [String] {
        value(of: "--bus").map { ["--bus", $0] } ?? projectArguments
    }

    var services: [String] {
        let files = value(of: "-f", "--file").map { [$0] } ?? ComposeFile.find(in: ".")
        let file = files.isEmpty ? nil : try? ComposeFile(paths: files)
        let project = try? ProjectOptions.parse(projectArguments).resolve(files: files)
        let status = project.flatMap { try? ProjectStatus.read($0) }
        let names = (file?.stack.services.map(\.name) ?? []) + (status?.services.map(\.service) ?? [])
        return Set(names).sorted()
    }

    /// What those say who are on the bus, if they say so at once; else what the project keeps.
    func contract() async -> AppContract? {
        let options = try? BusOptions.parse(busArguments)
        let live = await withTaskGroup(of: AppContract?.self) { group in
            group.addTask { try? await options?.withBus { try await BusContract.read($0).contract } }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if let live, !live.messages.isEmpty { return live }
        return try? ContractFile.read(ContractFile.standard)
    }

    /// The message that the line names; of several the last, as what it waits for.
    func message(in contract: AppContract) -> MessageContract? {
        let types = words.compactMap { word in
            contract.types.first { $0.description == word || $0.kind == .query && $0.name == word }
        }
        return types.last.flatMap { contract.messages[$0] }
    }
}

extension JSONSchema {
    /// A value of this form with nothing in it, to be filled in: the fields that have to be there, or else all.
    var template: JSONValue {
        switch self {
        case .any, .map: [:]
        case .boolean: false
        case .integer, .number: 0
        case .string, .enumeration: ""
        case .array: []
        case .nullable: .null
        case .object(let members): .object(Self.template(of: members))
        }
    }

    private static func template(of members: [String: Property]) -> [String: JSONValue] {
        let words = members.filter(\.key.isWord)
        let required = words.filter(\.value.isRequired)
        return (required.isEmpty ? words : required).mapValues(\.schema.template)
    }
}

extension String {
    /// Whether a shell takes it for nothing but itself. What is offered to bash is expanded by it, `$(…)` too, and names
    /// of fields come from whoever is on the bus.
    var isWord: Bool { !isEmpty && utf8.allSatisfy(Self.wordBytes.contains) }

    private static let wordBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8)
}

extension CompletionShell {
    /// JSON as the shell that asks takes an offered word.
    static func quoted(_ json: String) -> String {
        switch requesting {
        // Bash expands what it is offered, and quotes what comes of it by itself: the script says that they are files.
        case .bash: json.map { $0.isLetter || $0.isNumber ? "\($0)" : "\\\($0)" }.joined()
        // Zsh quotes by itself, and takes what follows a colon for a description.
        case .zsh: json.replacing(":", with: "\\:")
        default: json
        }
    }
}
