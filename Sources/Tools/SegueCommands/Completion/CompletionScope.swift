internal import AppContract
internal import ArgumentParser
internal import Compose
internal import Contracts
internal import EventBus

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
