internal import AppContract
internal import ArgumentParser
internal import Contracts
internal import EventBus
internal import Navigation

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
