internal import Compose
internal import Foundation
internal import Opening
internal import SignIn
internal import Support

/// The page of a gateway that runs on this machine.
struct RunningPage: Sendable {
    /// The time for which a link is valid.
    static let validity = "\(PageFolder.linkSeconds) s"
    /// The time to wait for the end of the command. A browser may run for longer.
    private static let patience: Duration = .seconds(3)

    private let folder: PageFolder
    private let address: PageFolder.Address

    /// The page of a project's gateway.
    /// - Throws: ``CommandError`` `no-page` if no gateway runs.
    init(of project: Project) throws {
        try self.init(PageFolder(state: project.dataDirectory)) {
            try ProjectStatus.read(project)?.isSupervisorAlive == true
                ? "add a service to the compose file, 'web: { command: web-gateway }', then run 'segue up -d'"
                : Self.recovery
        }
    }

    /// The page of the gateway with this folder.
    /// - Throws: ``CommandError`` `no-page` if no gateway runs.
    init(state folder: String) throws {
        try self.init(PageFolder(URL(fileURLWithPath: folder).path)) { Self.recovery }
    }

    private static let recovery = "start the stack with 'segue up', or name another project with -p"

    private init(_ folder: PageFolder, recovery: () throws -> String) throws {
        guard let address = folder.address() else {
            throw CommandError(
                code: "no-page", "no gateway has been started with the folder \(folder.path)", recovery: try recovery(),
                status: .unavailable)
        }
        guard address.isCurrent else {
            throw CommandError(
                code: "no-page", "the gateway at \(address.url) has ended", recovery: "start the stack with 'segue up'",
                status: .unavailable)
        }
        (self.folder, self.address) = (folder, address)
    }

    /// The address without a secret.
    var url: String { address.url }

    /// A link that signs a browser in. It is a secret.
    func link(for access: PageAccess) throws -> String {
        try ofFolder { () throws(PageFolderError) in try folder.signInURL(at: address, for: access) }
    }

    /// Opens the page in a browser, and signs the browser in.
    /// - Parameters:
    ///   - access: The part of the page that the browser may use.
    ///   - view: The part of the page to show, such as `map`, with its parameters. Nil for the part that the page shows
    ///     by itself.
    ///   - command: A command to run with the path of a file that leads to the page. Nil for `BROWSER`, or else xdg-open.
    /// - Throws: ``CommandError``
    func open(for access: PageAccess = .operator, view: String? = nil, with command: String? = nil) async throws {
        let file = try ofFolder { () throws(PageFolderError) in
            try folder.writeLink(to: address, for: access, view: view)
        }
        guard let opener = command.map(URLOpener.init) ?? URLOpener.preferred() else {
            throw CommandError(
                code: "no-browser", "there is no program to open files",
                recovery: "open \(file) in a browser within \(Self.validity), or set BROWSER to a browser's command",
                status: .unavailable)
        }
        let problem = try? await withTimeLimit(Self.patience) { await opener.launch(file: file) }
        if let problem = problem ?? nil {
            throw CommandError(
                code: "no-browser", problem,
                recovery: "or open \(file) in a browser within \(Self.validity)", status: .unavailable)
        }
    }

    /// Opens a part of the page in a browser, which is signed in as an operator's, and prints the address.
    func show(_ view: String) async throws {
        try await open(view: view)
        try await Console.output.writeLine("\(url)/#/\(view)")
    }

    private func ofFolder(_ body: () throws(PageFolderError) -> String) throws(CommandError) -> String {
        do {
            return try body()
        } catch {
            throw CommandError(code: "no-link", error.description, status: .ioError)
        }
    }
}
