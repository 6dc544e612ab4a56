package import ArgumentParser
internal import Compose
internal import EventBus
internal import SignIn
internal import Support

package struct OpenCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open the page of a stack in a browser, and sign the browser in.",
        discussion: """
            segue open
            segue open -p shop --open firefox
            segue open --session anna --link

            Writes an HTML file that only you can read, and opens it with $BROWSER, or else xdg-open. The file leads to \
            the page with a link that is valid once, for \(RunningPage.validity). Prints the address of the page, without \
            the secret of the link.

            With --session, the browser may use the devices of this session, and nothing else: for a person who uses the \
            app. Without it, the browser is an operator's, and may read and send everything. In one browser, the last \
            sign-in counts.

            If your browser is on another machine, forward the page's port, as with \
            'ssh -L PORT:127.0.0.1:PORT MACHINE', and open the link that --link prints. Anyone who has the link can use \
            the page.

            The exit status is 69 if the stack has no page, or no browser can be started.
            """)

    @OptionGroup var project: ProjectOptions

    @Option(name: .session, help: "Sign the browser in to this session only.")
    var session: String?

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
            "Print a link that signs a browser in, and open nothing. It is valid once, for \(RunningPage.validity)."
        ))
    var link = false

    package init() {}

    package func validate() throws {
        guard [address, link, open != nil].count(where: \.self) <= 1 else {
            throw ValidationError("--address, --link and --open exclude each other")
        }
        guard let session else { return }
        if address { throw ValidationError("--address signs nobody in; omit it, or omit --session") }
        if let reason = Session.refusal(of: session) { throw ValidationError("--session: \(reason)") }
    }

    package func run() async throws {
        let page = try state.map(RunningPage.init(state:)) ?? RunningPage(of: project.resolve())
        let access = session.map(PageAccess.session) ?? .operator
        if link { return try await Console.output.writeLine(page.link(for: access)) }
        if !address { try await page.open(for: access, with: open) }
        try await Console.output.writeLine(page.url)
        if let session {
            try await Console.output.writeLine("The browser is signed in to the session '\(session.printable)' only.")
        }
    }
}
