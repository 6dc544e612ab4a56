internal import AppContract
internal import ArgumentParser
internal import Compose
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

// The words that a shell offers as completions. Errors are not reported.
extension CompletionKind {
    /// The services in the compose file and in the project that the line names. The default is the compose file of the
    /// current folder, and its project.
    static let services = CompletionKind.custom { words, _, _ in CompletionScope(words).services }

    /// The types of messages that can be published, with their kind, as in `command.PlaylistSelected`.
    static let messageTypes = CompletionKind.custom { words, _, _ in
        await CompletionScope(words).contract()?.types.filter { $0.kind != .query }.map(\.description) ?? []
    }

    /// The names of messages without their kind, as `get` and `ask` expect them.
    static func messageNames(of kind: MessageKind) -> CompletionKind {
        .custom { words, _, _ in
            await CompletionScope(words).contract()?.types.filter { $0.kind == kind }.map(\.name) ?? []
        }
    }

    /// A JSON object with the fields of the message that the line names, for the person to fill in.
    static let messageData = CompletionKind.custom { words, _, _ in
        let scope = CompletionScope(words)
        return await scope.contract().flatMap { scope.message(in: $0)?.data }
            .map { [CompletionShell.quoted("\(TerminalText($0.template.description))")] } ?? []
    }

    /// The paths of the fields of the message that the line names, as in `data.url`.
    static let messagePaths = CompletionKind.custom { words, _, _ in
        let scope = CompletionScope(words)
        return await scope.contract().flatMap { scope.message(in: $0)?.data?.fields }
            .map { $0.filter(\.isWord).sorted().map { "data.\($0)" } } ?? []
    }
}

/// The project, bus and message that an unfinished command line refers to.
struct CompletionScope {
    /// The maximum time to wait for the bus. After this time, the completions come from the contract file.
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
        let sources = try? ComposeSources(paths: value(of: "-f", "--file").map { [$0] } ?? [])
        let project = sources.flatMap { sources in
            try? ProjectOptions.parse(projectArguments).resolve(sources)
        }
        let file = project.flatMap { try? sources?.file(project: $0.name) }
        let status = project.flatMap { try? ProjectStatus.read($0) }
        let names = (file?.stack.services.map(\.name) ?? []) + (status?.services.map(\.service) ?? [])
        return Set(names).sorted()
    }

    /// The contract of the services on the bus. If the bus does not answer in time or has no contract, the project's
    /// contract file. Nil if this file cannot be read either.
    func contract() async -> AppContract? {
        let options = try? BusOptions.parse(busArguments)
        let live = try? await withTimeLimit(Self.patience) {
            try await options?.withBus { try await BusContract.read($0).contract }
        }
        if let live = live ?? nil, !live.messages.isEmpty { return live }
        return try? ContractFile.read(ContractFile.standard)
    }

    /// The contract of the last message type on the line, such as the type after `--await`. Nil if the line contains no
    /// type of the contract.
    func message(in contract: AppContract) -> MessageContract? {
        let types = words.compactMap { word in
            contract.types.first { $0.description == word || $0.kind == .query && $0.name == word }
        }
        return types.last.flatMap { contract.messages[$0] }
    }
}

extension JSONSchema {
    /// A value for a person to fill in, such as 0 for a number. An object has its required fields, or all fields if
    /// none is required. Fields whose names are not words are left out.
    var template: JSONValue {
        switch self {
        case .any, .map: [:]
        case .boolean: false
        case .integer, .number: 0
        case .range(_, let least, let most): .number(max(least ?? 0, min(0, most ?? 0)))
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
    /// True if the string is not empty and contains only ASCII letters, digits, `_` and `-`.
    ///
    /// Field names come from processes on the bus, and Bash expands completions such as `$(…)`.
    var isWord: Bool { !isEmpty && utf8.allSatisfy(Self.wordBytes.contains) }

    private static let wordBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8)
}

extension CompletionShell {
    /// The JSON, quoted as a completion for the shell that requests the completions.
    static func quoted(_ json: String) -> String {
        switch requesting {
        case .bash: Escape.bashCompletion(json)
        case .zsh: Escape.zshCompletion(json)
        default: json
        }
    }
}
