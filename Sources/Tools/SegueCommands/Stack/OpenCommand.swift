package import ArgumentParser
internal import Compose
internal import Foundation
internal import Opening
internal import SignIn
internal import Support

package struct OpenCommand: AsyncParsableCommand {
    /// The time for which a link is valid.
    private static let validity = "\(PageFolder.linkSeconds) s"

    package static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open the page of a stack in a browser, and sign the browser in.",
        discussion: """
            segue open
            segue open -p shop --open firefox
            segue open --link

            Writes an HTML file that only you can read, and opens it with $BROWSER, or else xdg-open. The file leads to \
            the page with a link that is valid once, for \(Self.validity). Prints the address of the page, without \
            the secret of the link.

            If your browser is on another machine, forward the page's port, as with \
            'ssh -L PORT:127.0.0.1:PORT MACHINE', and open the link that --link prints. Anyone who has the link can use \
            the page.
            """)

    @OptionGroup var project: ProjectOptions

    @Option(
        help: ArgumentHelp(
            "The folder of the gateway's key and address. (default: the folder of the project's gateway)",
            valueName: "folder"),
        completion: .directory)
    var state: String?

    @Option(help: "A command to run with the path of the file. (default: $BROWSER, or else xdg-open)")
    var open: String?

    @Flag(help: "Print the address of the page, and open nothing.")
    var address = false

    @Flag(
        help: ArgumentHelp(
            "Print a link that signs a browser in, and open nothing. It is valid once, for \(Self.validity)."
        ))
    var link = false

    /// The time to wait for the end of the command. A browser may run for longer.
    private static let patience: Duration = .seconds(3)

    package init() {}

    package func validate() throws {
        guard [address, link, open != nil].count(where: \.self) <= 1 else {
            throw ValidationError("--address, --link and --open exclude each other")
        }
    }

    package func run() async throws {
        let folder = try folder()
        guard let address = folder.address() else { throw try noPage(folder) }
        guard address.isCurrent else {
            throw CommandError(
                code: "no-page", "the gateway at \(address.url) has ended", recovery: "start the stack with 'segue up'",
                status: .unavailable)
        }
        if self.address { return try await Console.output.writeLine(address.url) }
        let file: String
        do {
            if link { return try await Console.output.writeLine(try folder.signInURL(at: address)) }
            file = try folder.writeLink(to: address)
        } catch let error as PageFolderError {
            throw CommandError(code: "no-link", error.description, status: .ioError)
        }
        guard let opener = open.map(URLOpener.init) ?? URLOpener.preferred() else {
            throw CommandError(
                code: "no-browser", "there is no program to open files",
                recovery:
                    "open \(file) in a browser within \(Self.validity), name a program with --open, "
                    + "or open the link of --link",
                status: .unavailable)
        }
        if let problem = await launch(opener, file) {
            throw CommandError(
                code: "no-browser", problem,
                recovery: "or open \(file) in a browser within \(Self.validity)", status: .unavailable)
        }
        try await Console.output.writeLine(address.url)
    }

    private func noPage(_ folder: PageFolder) throws -> CommandError {
        let isRunning = try state == nil && ProjectStatus.read(project.resolve())?.isSupervisorAlive == true
        return CommandError(
            code: "no-page", "no gateway has been started with the folder \(folder.path)",
            recovery: isRunning
                ? "add a service to the compose file, 'web: { command: web-gateway }', then run 'segue up -d'"
                : "start the stack with 'segue up', or name another project with -p", status: .unavailable)
    }

    private func folder() throws -> PageFolder {
        if let state { return PageFolder(URL(fileURLWithPath: state).path) }
        return PageFolder(state: try project.resolve().dataDirectory)
    }

    /// - Returns: the reason why the file could not be opened. Nil if it was opened, or if the command still runs.
    private func launch(_ opener: URLOpener, _ file: String) async -> String? {
        let reason = try? await withTimeLimit(Self.patience) { await opener.launch(file: file) }
        return reason ?? nil
    }
}
