import Contracts
import EventBus
import Foundation
import Monitor
import Navigation
import Support
import Testing

@testable import SegueCommands

@Suite("View of segue top")
struct TopViewTests {
    private static let broker = TopInstance(name: "broker", state: "ready", pids: [10], memory: 20 << 20)
    private static let web = TopInstance(
        name: "web", state: "failed", style: .red, restarts: 3, note: "exited", pids: [11])
    private static let music = TopInstance(
        name: "music", state: "ready", pids: [12, 13], processorTime: .seconds(1), memory: 5 << 20)

    private func view(project: String? = "demo", session: String = "default") -> TopView {
        TopView(project: project, session: session)
    }

    /// A view of a project with three instances.
    private func projectView() -> TopView {
        var view = view()
        #expect(view.handle(.instances([Self.broker, Self.web, Self.music], at: .zero)) == [])
        return view
    }

    private func lines(_ view: TopView) -> [String] {
        view.lines.map { $0.rendered(isColored: false, columns: nil).description }
    }

    private func status(_ view: TopView) -> String { lines(view).last ?? "" }

    /// The name in the line with the mark of the selection.
    private func selected(_ view: TopView) -> String? {
        lines(view).first { $0.hasPrefix("> ") }?.split(separator: " ")[1].description
    }

    private func presence(_ name: String, _ instance: String, pid: Int32) throws -> Envelope {
        try Envelope(
            Document.Presence(name: name, version: "1", instance: instance, pid: pid, receives: [], sends: []),
            source: "\(name)/\(instance)")
    }

    private func state(_ state: NavigationState, _ platform: String, session: String = "default") throws -> Envelope {
        let flow = try Flow("f", version: 1, platform: "ios", start: "home") { Flow.Screen("home") }
        var snapshot = Machine(flow: flow).snapshot
        (snapshot.platform, snapshot.session, snapshot.state) = (platform, session, state)
        return try Envelope(Document.NavigationState(snapshot), source: "navigation-coordinator/1", subject: session)
    }

    /// A report with these numbers of messages by type, and the lag of a process.
    private func report(_ types: [String: Int], lag: UInt64? = nil, discarded: Int = 0) throws -> StatisticsReport {
        var statistics = MonitorStatistics(start: Date())
        for (type, count) in types {
            let attributes = Attributes(type: try #require(MessageType(type)), source: "s/1", id: type)
            for _ in 0..<count { statistics.record(Envelope(attributes: attributes, data: Data()), at: Date()) }
        }
        for _ in 0..<discarded { statistics.record(.discarded(id: "m", reason: "late")) }
        if let lag {
            statistics.apply(presence: try presence("music-service", "ab", pid: 13))
            statistics.apply(
                metrics: ["ab": DomainEvent.MetricsReported(instance: "ab", handled: 7, failed: 1, lag: lag)])
        }
        return statistics.report(after: .seconds(1))
    }

    // MARK: Processes

    @Test("An instance and its process on the bus are one row")
    func join() throws {
        var view = projectView()
        _ = view.handle(.document(try presence("music-service", "ab", pid: 13)))
        _ = view.handle(.document(try presence("stranger", "cd", pid: 99)))
        _ = view.handle(.report(try report([:], lag: 4)))
        let text = lines(view)
        let header = try #require(text.firstIndex { $0.contains("NAME") })
        #expect(
            Array(text[header...].prefix(5)) == [
                "  NAME         STATE   CPU    MEMORY  RESTARTS  LAG  HANDLED  FAILED",
                "> broker       ready     -  20.0 MiB         0    –        –       –",
                "  web          failed    -         -         3    –        –       –  exited",
                "  music        ready     -   5.0 MiB         0    4        7       1",
                "  stranger/cd  -         -         -         -    –        –       –",
            ])
    }

    @Test("The load is computed between two readings, unless the instance has other processes now")
    func load() {
        var view = projectView()
        var music = Self.music
        music.processorTime = .seconds(1.5)
        _ = view.handle(.instances([music], at: .seconds(2)))
        #expect(lines(view).contains { $0.contains(#/music +ready +25 %/#) })
        music.processorTime = .seconds(1)
        music.pids = [14]
        _ = view.handle(.instances([music], at: .seconds(4)))
        #expect(lines(view).contains { $0.contains(#/music +ready +- /#) })
    }

    @Test("The view without a project has no states, and names a coordinator by its platform")
    func noProject() throws {
        var view = view(project: nil)
        let flow = Document.Flow(platform: "ios", name: "f", version: 1, hash: "h", source: "")
        _ = view.handle(.document(try Envelope(flow, source: "navigation-coordinator/1f")))
        _ = view.handle(.document(try presence("navigation-coordinator", "1f", pid: 7)))
        let text = lines(view)
        #expect(text.contains("  NAME                             LAG  HANDLED  FAILED"), "\(text)")
        #expect(text.contains { $0.hasPrefix("> navigation-coordinator (ios)/1f ") })
    }

    @Test("The selection moves with up and down, and stays on its process when others come and go")
    func selection() {
        var view = projectView()
        #expect(selected(view) == "broker")
        _ = view.handle(.key(.up))
        #expect(selected(view) == "broker")
        _ = view.handle(.key(.down))
        _ = view.handle(.key(.down))
        _ = view.handle(.key(.down))
        #expect(selected(view) == "music")
        _ = view.handle(.instances([Self.music, Self.web], at: .seconds(1)))
        #expect(selected(view) == "music")
        _ = view.handle(.instances([Self.web], at: .seconds(2)))
        #expect(selected(view) == "web")
        _ = view.handle(.instances([], at: .seconds(3)))
        #expect(selected(view) == nil)
    }

    // MARK: Restarts

    @Test("The selected process is restarted after y, and not after any other key", arguments: ["n", "q", "Y", "\r"])
    func restart(other: Unicode.Scalar) {
        var view = projectView()
        _ = view.handle(.key(.down))
        #expect(view.handle(.key(.character("r"))) == [])
        #expect(status(view) == "y restarts 'web'; any other key does not")
        #expect(view.handle(.key(.character(other))) == [])
        #expect(status(view) == "'web' is not restarted")
        _ = view.handle(.key(.character("r")))
        // The process in the question is restarted, although it is gone and another one is selected.
        _ = view.handle(.instances([Self.broker], at: .seconds(1)))
        #expect(view.handle(.key(.character("y"))) == [.restart(instance: "web")])
        #expect(status(view) == "restarting 'web' …")
        #expect(view.handle(.key(.character("y"))) == [])
    }

    @Test("The status line says why a key needs a project", arguments: ["r", "l"])
    func needsProject(key: Unicode.Scalar) throws {
        var view = view(project: nil)
        _ = view.handle(.document(try presence("music-service", "ab", pid: 13)))
        #expect(view.handle(.key(.character(key))) == [])
        #expect(status(view).hasSuffix("needs a project: use -p, or start in the project's folder"))
        var other = self.view()
        _ = other.handle(.document(try presence("music-service", "ab", pid: 13)))
        #expect(other.handle(.key(.character(key))) == [])
        #expect(status(other) == "project 'demo' has not started 'music-service/ab'")
        #expect(view.handle(.key(.down)) == [] && status(view).hasPrefix("? keys"))
    }

    // MARK: Pages

    @Test("The view ends with q, on the overview and on a page")
    func end() {
        var view = projectView()
        #expect(view.handle(.key(.character("q"))) == [.end])
        _ = view.handle(.key(.character("?")))
        #expect(lines(view)[0] == "KEYS" && lines(view).contains { $0.hasPrefix("r  ") })
        #expect(view.handle(.key(.character("q"))) == [.end])
    }

    @Test(
        "A page is read once at a time, shown, and closed with Escape",
        arguments: [TopPage.Subject.story, .deadLetters])
    func page(subject: TopPage.Subject) {
        var view = projectView()
        #expect(view.handle(.key(.character(subject.key))) == [.read(subject)])
        #expect(lines(view)[1] == "reading …")
        // The bus is slow, and the user goes back and comes again.
        #expect(view.handle(.key(.escape)) == [] && selected(view) == "broker")
        #expect(view.handle(.key(.character(subject.key))) == [])
        _ = view.handle(.content([StyledText("late")], of: subject == .story ? .deadLetters : .story))
        #expect(lines(view)[1] == "reading …", "the answer for another page is not shown")
        _ = view.handle(.content([StyledText("one"), StyledText("two")], of: subject))
        #expect(Array(lines(view)[1...3]) == ["one", "two", ""] && status(view).hasSuffix("1–2 of 2"))
        #expect(view.handle(.key(.character(subject.key))) == [.read(subject)])
        #expect(lines(view)[1] == "one", "the former content stays until the new one is read")
        #expect(view.handle(.key(.escape)) == [] && selected(view) == "broker")
    }

    @Test("A page scrolls, and the end of a log stays visible until the user scrolls")
    func log() throws {
        var view = projectView()
        _ = view.handle(.size(columns: 60, rows: 12))
        let subject = TopPage.Subject.log(instance: "broker")
        #expect(view.handle(.key(.character("l"))) == [.read(subject)])
        #expect(view.handle(.report(.empty)) == [], "it is being read")
        _ = view.handle(.content((1...20).map { StyledText("line \($0)") }, of: subject))
        #expect(Array(lines(view).prefix(2)) == ["LOG OF broker", "line 11"] && lines(view)[10] == "line 20")
        #expect(view.handle(.report(.empty)) == [.read(subject)], "there may be new lines")
        _ = view.handle(.content((1...25).map { StyledText("line \($0)") }, of: subject))
        #expect(lines(view)[10] == "line 25")
        _ = view.handle(.key(.up))
        _ = view.handle(.key(.pageUp))
        #expect(lines(view)[1] == "line 5" && status(view).hasSuffix("5–14 of 25"))
        #expect(view.handle(.report(.empty)) == [], "the lines that the user reads stay")
        _ = view.handle(.key(.home))
        #expect(lines(view)[1] == "line 1")
        _ = view.handle(.key(.character(" ")))
        _ = view.handle(.key(.down))
        #expect(lines(view)[1] == "line 12")
        _ = view.handle(.key(.end))
        #expect(view.handle(.report(.empty)) == [.read(subject)])
    }

    @Test("The lines of a page are wrapped to the width of the terminal, also after a change of the size")
    func wrap() {
        var view = projectView()
        _ = view.handle(.key(.character("s")))
        _ = view.handle(.content([StyledText(String(repeating: "a", count: 70) + "b")], of: .story))
        #expect(lines(view)[1].hasSuffix("b"))
        _ = view.handle(.size(columns: 60, rows: 15))
        #expect(lines(view)[1].count == 60 && lines(view)[2] == "aaaaaaaaaab" && lines(view).count == 15)
    }

    // MARK: Parts

    @Test("The view shows the front screens of each platform of its session, and the covered ones")
    func screens() throws {
        var view = view(session: "alice")
        let home = ScreenInstance(screen: "home", id: "home-1")
        let cup = ScreenInstance(screen: "cup", id: "cup-1", arguments: ["kind": "lungo"])
        var state = NavigationState(root: RootScreen(home), path: [cup])
        _ = view.handle(.document(try self.state(state, "ios", session: "alice")))
        state.presentations = [Presentation(.sheet, ScreenInstance(screen: "login", id: "login-1"))]
        _ = view.handle(.document(try self.state(state, "mac", session: "alice")))
        _ = view.handle(.document(try self.state(state, "tv")))
        let text = lines(view)
        let header = try #require(text.firstIndex { $0.hasPrefix("PLATFORM") })
        #expect(
            Array(text[header...].prefix(4)) == [
                "PLATFORM  SCREENS OF SESSION alice", "ios       cup(kind: lungo)",
                "mac       login over cup(kind: lungo)", "",
            ])
        let withdrawn = Envelope(
            attributes: try self.state(state, "mac", session: "alice").attributes, data: Data())
        #expect(withdrawn.isTombstone)
        _ = view.handle(.document(withdrawn))
        #expect(!lines(view).contains { $0.hasPrefix("mac") })
    }

    @Test("The last happenings are at the bottom, including the incomplete one")
    func happenings() throws {
        var view = projectView()
        #expect(!lines(view).contains("LAST HAPPENINGS"))
        for number in 1...60 {
            let attributes = Attributes(
                type: MessageType(kind: .event, name: "Thing\(number)"), source: "s/1", id: "e\(number)")
            _ = view.handle(.message(Envelope(attributes: attributes, data: Data("{}".utf8))))
        }
        #expect(lines(view).contains("LAST HAPPENINGS"))
        #expect(lines(view)[22].contains("Thing60") && lines(view)[21].contains("Thing59"))
        #expect(status(view).hasPrefix("? keys"))
    }

    @Test(
        "The view has exactly the lines of the terminal, with the selected process among them",
        arguments: [(60, 15), (80, 24), (200, 60), (20, 5), (1, 1)])
    func sizes(columns: Int, rows: Int) throws {
        var view = view()
        _ = view.handle(.size(columns: columns, rows: rows))
        let instances = (1...40).map { TopInstance(name: "a-service-with-a-long-name-\($0)", state: "ready") }
        _ = view.handle(.instances(instances, at: .zero))
        for _ in 1..<20 { _ = view.handle(.key(.down)) }
        let types = Dictionary(uniqueKeysWithValues: (1...30).map { ("event.Type\($0)", 1) })
        _ = view.handle(.report(try report(types, discarded: 2)))
        for platform in ["ios", "mac"] {
            let screen = ScreenInstance(screen: "home", id: "home-1")
            _ = view.handle(.document(try state(NavigationState(root: RootScreen(screen)), platform)))
        }
        let text = lines(view)
        #expect(text.count == rows)
        guard rows >= 15 else { return }
        #expect(text[0].hasPrefix("TYPE "))
        #expect(text.contains { $0.hasPrefix("> ") } && text.contains { $0.hasPrefix("PLATFORM") })
        #expect(text.contains("messages discarded: 2") && text.contains { $0.hasSuffix("lines more") })
        let process = try #require(text.first { $0.hasPrefix("> ") })
        #expect(process.count <= columns && process.contains("ready"), "\(process)")
        #expect(columns < 80 || process.contains("-20 "))
    }

    @Test("Lines are divided in turn among the parts that need more")
    func division() {
        #expect(TopView.divide(10, among: [20, 3, 2], inOrder: [0, 1, 2]) == [5, 3, 2])
        #expect(TopView.divide(10, among: [20, 20, 1], inOrder: [1, 0, 1, 2]) == [3, 6, 1])
        #expect(TopView.divide(10, among: [1, 0, 2], inOrder: [0, 1, 2]) == [1, 0, 2])
        #expect(TopView.divide(0, among: [1], inOrder: [0]) == [0])
    }

    @Test("No control character of a name, a note, a line or an error is drawn")
    func hostile() throws {
        let hostile = "\u{1B}]0;T\u{7}\u{9B}31m\u{202E}\rforged"
        var view = TopView(project: hostile, session: hostile)
        let screen = ScreenInstance(screen: hostile, id: "1", arguments: [hostile: .string(hostile)])
        _ = view.handle(.document(try state(NavigationState(root: RootScreen(screen)), hostile, session: hostile)))
        let instance = TopInstance(name: hostile, state: hostile, note: hostile)
        _ = view.handle(.instances([instance], at: .zero))
        var views = [view]
        for key in ["r", "l"] as [Unicode.Scalar] {
            var other = view
            _ = other.handle(.key(.character(key)))
            _ = other.handle(.content([StyledText(hostile)], of: .log(instance: hostile)))
            views.append(other)
        }
        _ = view.handle(.notice(hostile))
        views.append(view)
        for view in views {
            let scalars = lines(view).joined().unicodeScalars
            #expect(!scalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0 == "\u{202E}" })
            #expect(lines(view).contains { $0.contains(#"\u001b]0;T"#) })
        }
    }
}
