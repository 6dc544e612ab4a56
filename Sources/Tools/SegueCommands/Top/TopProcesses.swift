internal import Compose
internal import Contracts
internal import EventBus
internal import Monitor
internal import Support

/// An instance of a service, as `segue ps` lists it.
struct TopInstance: Hashable, Sendable {
    let name: String
    /// The state, or `unhealthy` for a process whose health check fails.
    var state: String
    /// The style of an instance that needs attention. Nil for any other instance.
    var style: TextStyle?
    var restarts = 0
    var note: String?
    /// The ids of its processes.
    var pids: Set<Int32> = []
    /// The processor time that its processes have used. Nil if it has no process.
    var processorTime: Duration?
    /// In bytes. Nil if it has no process.
    var memory: Int?
}

extension TopInstance {
    init(_ row: ServiceRow, pids: Set<Int32>) {
        let isUnhealthy = row.health == .unhealthy
        self.init(
            name: row.name, state: isUnhealthy ? "unhealthy" : row.state.rawValue, restarts: row.restarts,
            note: row.note, pids: pids, processorTime: row.cpuSeconds.map { .seconds($0) }, memory: row.memoryBytes)
        style =
            switch row.state {
            case .failed: .red
            case .created, .starting, .restarting, .stopping: .yellow
            case .exited: .dim
            case .ready, .running: isUnhealthy ? .red : nil
            }
    }
}

/// The processes in the view of `segue top`: the instances of a project together with the processes on the bus.
struct TopProcesses: Sendable {
    /// The maximum number of processes on the bus that are listed.
    private static let capacity = 500
    /// The minimum width of the names in a narrow terminal.
    private static let shortestName = 8

    private struct Row {
        let name: String
        /// Nil for a process that the project has not started.
        var instance: TopInstance?
        /// The processor time per time since the last reading, in percent. Nil if it is not known.
        var load: Int?
        var figures: [StatisticsReport.OfService] = []

        /// A name that no other row has.
        var id: [String] { [instance == nil ? "process" : "instance", name] }
    }

    /// The processes on the bus, by the key of their presence.
    private var presences: [String: Document.Presence] = [:]
    private var names = CoordinatorNames()
    /// The progress of the processes, by instance of the presence.
    private var figures: [String: StatisticsReport.OfService] = [:]
    /// Nil without a project, and until the project's status has been read.
    private var instances: [TopInstance]?
    private var loads: [String: Int] = [:]
    private var read = Duration.zero
    private var rows: [Row] = []
    private var index = 0
    /// False until the user selects a process. Then the first process is selected, whichever it is.
    private var isChosen = false

    /// The number of processes.
    var count: Int { rows.count }

    /// The name of the selected process. Nil if there is no process.
    var selected: String? { rows.indices.contains(index) ? rows[index].name : nil }

    /// The name of the selected process, if it is an instance of the project.
    var selectedInstance: String? { rows.indices.contains(index) ? rows[index].instance?.name : nil }

    mutating func select(_ distance: Int) {
        index = max(0, min(rows.count - 1, index + distance))
        isChosen = true
    }

    // MARK: Facts

    /// Applies the presence of a process, or the document of a coordinator that says its platform.
    mutating func apply(_ message: Envelope) {
        names.record(message)
        if message.type == Document.Presence.type, let key = message.attributes.key {
            let presence = try? message.decode(Document.Presence.self)
            guard presence == nil || presences[key] != nil || presences.count < Self.capacity else { return }
            presences[key] = presence
            arrange()
        } else if message.type == Document.Flow.type {
            arrange()
        }
    }

    mutating func apply(_ services: [StatisticsReport.OfService]) {
        figures = Dictionary(services.map { ($0.instance, $0) }) { _, last in last }
        arrange()
    }

    /// - Parameter time: The time of the reading since any fixed moment.
    mutating func apply(_ instances: [TopInstance], at time: Duration) {
        let former = Dictionary((self.instances ?? []).map { ($0.name, $0) }) { _, last in last }
        let elapsed = time - read
        loads = [:]
        for instance in instances {
            // A process that has ended or was added would count with the time of its whole life.
            guard let last = former[instance.name], last.pids == instance.pids, elapsed > .zero,
                let (before, now) = last.processorTime.flatMap({ before in instance.processorTime.map { (before, $0) } }
                )
            else { continue }
            loads[instance.name] = max(0, Int(((now - before) / elapsed * 100).rounded()))
        }
        (self.instances, read) = (instances, time)
        arrange()
    }

    /// Joins the instances and the processes on the bus. The selected row stays selected.
    private mutating func arrange() {
        let selected = isChosen && rows.indices.contains(index) ? rows[index].id : nil
        var own = Set<String>()
        rows = (instances ?? []).map { instance in
            let members = presences.filter { instance.pids.contains($0.value.pid) }
            own.formUnion(members.keys)
            return Row(
                name: instance.name, instance: instance, load: loads[instance.name],
                figures: members.values.compactMap { figures[$0.instance] })
        }
        let others = presences.filter { !own.contains($0.key) }.values
        rows += others.sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }.map { presence in
            let name = names.name(of: presence.name, instance: presence.instance)
            return Row(
                name: "\(name)/\(presence.instance)", figures: figures[presence.instance].map { [$0] } ?? [])
        }
        index = rows.firstIndex { $0.id == selected } ?? max(0, min(rows.count - 1, index))
    }

    // MARK: Lines

    /// A table of at most `room` lines, in which the selected process is visible.
    func lines(room: Int, columns: Int) -> [StyledText] {
        guard room > 0 else { return [] }
        let (lines, notes) = table(columns: columns - 2)
        var heading = StyledText()
        heading.append("  \(lines[0])", .bold)
        let shown = window(room - 1)
        var result = [heading]
        for row in shown.rows {
            let style = rows[row].instance?.style
            let isSelected = row == index
            var line = StyledText((isSelected ? "> " : "  ") + lines[row + 1], style ?? (isSelected ? .bold : nil))
            if let note = notes[row] { line.append("  \(note)", .dim) }
            result.append(line)
        }
        if shown.hidden > 0, room > 2 { result.append(StyledText("  … \(shown.hidden) lines more", .dim)) }
        return result
    }

    /// The rows that fit into `room` lines, with the selected row among them, and the number of the others. If there is
    /// room for more than one line, the last is kept free for this number.
    private func window(_ room: Int) -> (rows: Range<Int>, hidden: Int) {
        guard rows.count > room else { return (rows.indices, 0) }
        let length = room > 1 ? room - 1 : room
        let start = max(0, min(index - length / 2, rows.count - length))
        return (start..<start + length, rows.count - length)
    }

    /// The lines of the table with its header, and the notes of the rows.
    private func table(columns: Int) -> (lines: [String], notes: [String?]) {
        let notes = rows.map { $0.instance?.note }
        let wide = cells(hasProgress: true, nameLength: .max).lines
        if widest(wide) <= columns { return (wide, notes) }
        let narrow = cells(hasProgress: false, nameLength: .max).lines
        let excess = widest(narrow) - columns
        guard excess > 0 else { return (narrow, notes) }
        let longest = rows.map(\.name.printable.count).max() ?? 0
        return (cells(hasProgress: false, nameLength: max(Self.shortestName, longest - excess)).lines, notes)
    }

    private func widest(_ lines: [String]) -> Int { lines.map(\.count).max() ?? 0 }

    /// - Parameter hasProgress: False to leave out the least important columns.
    private func cells(hasProgress: Bool, nameLength: Int) -> Table {
        let isProject = instances != nil
        let state = isProject ? ["STATE", "CPU", "MEMORY", "RESTARTS"] : []
        var table = Table(
            header: ["NAME"] + state + ["LAG"] + (hasProgress ? ["HANDLED", "FAILED"] : []),
            numbersFrom: isProject ? 2 : 1)
        for row in rows {
            let state = isProject ? self.state(of: row) : []
            let progress = hasProgress ? [number(row.figures.map(\.handled)), number(row.figures.map(\.failed))] : []
            let lag = FigureText.of(lag: row.figures.compactMap(\.lag).max())
            table.append(row: [row.name.printable.cut(to: nameLength)] + state + [lag] + progress)
        }
        return table
    }

    private func state(of row: Row) -> [String] {
        guard let instance = row.instance else { return ["-", "-", "-", "-"] }
        return [
            instance.state, row.load.map { "\($0) %" } ?? "-", instance.memory.map(ServiceRow.megabytes) ?? "-",
            "\(instance.restarts)",
        ]
    }

    /// The sum of the numbers. A dash if none is known.
    private func number(_ numbers: [Int?]) -> String {
        let known = numbers.compactMap(\.self)
        return FigureText.of(known.isEmpty ? nil : known.reduce(0) { $0.addingReportingOverflow($1).partialValue })
    }
}

extension String {
    /// The first `length` characters, of which the last is `…` if others were cut off.
    fileprivate func cut(to length: Int) -> String {
        count > length ? prefix(max(0, length - 1)) + "…" : self
    }
}
