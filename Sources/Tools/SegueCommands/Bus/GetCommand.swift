package import ArgumentParser
internal import EventBus
internal import Monitor
internal import Support

package struct GetCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a document as it is now.",
        discussion: """
            segue get NavigationState ios --json  prints the document with this key
            segue get Playlists                   prints a document that has no key
            segue get NowPlaying --field data.song.title  prints one value
            segue get NavigationState             lists the keys of all documents with this name
            segue get NavigationState --json      prints all documents with this name as messages

            The exit status is 1 if there is no such document.
            """)

    @OptionGroup var options: BusOptions

    @Argument(help: "The document's name, such as NavigationState.", completion: .messageNames(of: .document))
    var document: String

    @Argument(help: "The document's key. (default: the document without a key; if there is none, a list of the keys)")
    var key: String?

    @Option(name: .session, help: ArgumentHelp("The session of the document.", valueName: "session"))
    var session = Session.default

    @OptionGroup var data: DataOptions

    package init() {}

    package func validate() throws {
        guard type != nil else {
            throw ValidationError("'\(document)' is not the name of a document such as NavigationState")
        }
    }

    /// The document's type. Nil if the name is invalid; then validation fails.
    private var type: MessageType? { MessageSpelling.type(document, of: .document) }

    package func run() async throws {
        guard let type else { return }
        let session = session
        let key = key
        let (found, documents) = try await options.withBus { bus -> (Envelope?, [Envelope]) in
            if let found = try await bus.document(type, subject: session, key: key) { return (found, []) }
            let named = try await bus.documents(matching: [.type(type, subject: session)])
            // The documents with other names are needed only for the error message.
            let others = [MessageFilter.kind(.document, subject: session)]
            return (nil, named.isEmpty ? try await bus.documents(matching: others) : named)
        }
        let named = documents.filter { $0.type == type }
        if let found {
            try await data.printer.show(found)
        } else if key == nil, !named.isEmpty {
            try await list(named)
        } else {
            throw missing(type, among: documents)
        }
    }

    private func list(_ documents: [Envelope]) async throws {
        for document in documents.sorted(by: { ($0.attributes.key ?? "") < ($1.attributes.key ?? "") }) {
            let key = document.attributes.key ?? ""
            if data.field.paths.isEmpty {
                try await Console.output.writeLine(data.json ? CloudEventFormat.line(document) : key.printable)
            } else {
                try await data.printer.show(document)
            }
        }
    }

    private func missing(_ type: MessageType, among documents: [Envelope]) -> CommandError {
        let keys = documents.filter { $0.type == type }.compactMap(\.attributes.key).sorted()
        let names = Set(documents.map(\.type.name))
        let recovery =
            if !keys.isEmpty {
                "its keys are \(keys.joined(separator: ", "))"
            } else if let near = Spelling.nearest(to: type.name, in: names) {
                "did you mean \(near)?"
            } else {
                names.isEmpty
                    ? "there are no documents yet" : "the documents are \(names.sorted().joined(separator: ", "))"
            }
        let place = session == Session.default ? "" : " in session '\(session)'"
        return CommandError(
            code: "no-document", "there is no document \(type.name)\(key.map { " with key '\($0)'" } ?? "")\(place)",
            recovery: recovery)
    }
}
