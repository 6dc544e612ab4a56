internal import Contracts
internal import Device
internal import EventBus
internal import Vocabulary

/// The screen that shows what the account plays, and controls it.
struct NowPlayingViewModel: ViewModel {
    /// The difference of the volume after one action, in percent.
    private static let volumeStep = 10
    /// The positions that a person can go to, as parts of the song.
    private static let parts: [(label: String, quarters: Int)] = [
        ("the start", 0), ("a quarter", 1), ("the half", 2), ("three quarters", 3),
    ]

    private let document: Document.NowPlaying?

    init(documents: LatestDocuments, arguments: [String: String]) {
        document = documents[Document.NowPlaying.self]
    }

    var content: ScreenContent {
        ScreenContent(
            title: "Now playing", sections: [section], actions: actions,
            isLoading: document.map { $0.status == .loading } ?? true)
    }

    private var section: ScreenContent.Section {
        guard let document, document.status != .loading else {
            return ScreenContent.Section(rows: ["Asking Spotify…"])
        }
        let footer: String? =
            switch document.status {
            case .interrupted: "Spotify does not answer at the moment. This is what is known."
            default: nil
            }
        guard document.status != .ended else {
            return ScreenContent.Section(rows: ["This is not kept up to date any more."])
        }
        guard let playback = document.playback else {
            return ScreenContent.Section(rows: ["Nothing is playing."], footer: footer)
        }
        return ScreenContent.Section(rows: rows(of: playback), footer: footer)
    }

    private func rows(of playback: Playback) -> [ScreenContent.Row] {
        let track = playback.track
        let song =
            track.map { ScreenContent.Row($0.title, subtitle: $0.artist, detail: $0.album) }
            ?? "Something that is not a song"
        let progress = ScreenContent.Progress(
            position: playback.position, duration: track?.duration, measuredAt: playback.measuredAt,
            isRunning: playback.isPlaying)
        let device = playback.device.map { device in
            ScreenContent.Row(
                device.name, subtitle: device.type, detail: device.volume.map { "volume \($0) %" })
        }
        return [song, ScreenContent.Row(playback.isPlaying ? "Playing" : "Paused", progress: progress), device]
            .compactMap(\.self)
    }

    private var actions: [ScreenAction] {
        guard let document, document.status != .ended else {
            return document == nil
                ? [] : [ScreenAction("Follow it again", Command.NowPlayingRequested(), role: .primary)]
        }
        guard let playback = document.playback else { return [] }
        let main =
            playback.isPlaying
            ? ScreenAction("Pause", Command.PauseRequested(), role: .primary)
            : ScreenAction("Resume", Command.ResumeRequested(), role: .primary)
        return [
            main, ScreenAction("Next song", Command.NextSongRequested()),
            ScreenAction("Previous song", Command.PreviousSongRequested()),
        ] + volumes(of: playback) + positions(in: playback)
    }

    /// Each action names a volume, and not a difference, so that it has the same effect if it is repeated.
    private func volumes(of playback: Playback) -> [ScreenAction] {
        guard let volume = playback.device?.volume else { return [] }
        let lower = volume > 0 ? max(0, volume - Self.volumeStep) : nil
        let higher = volume < 100 ? min(100, volume + Self.volumeStep) : nil
        return [
            higher.map { ScreenAction("Louder: \($0) %", Command.VolumeRequested(percent: $0)) },
            lower.map { ScreenAction("Quieter: \($0) %", Command.VolumeRequested(percent: $0)) },
        ].compactMap(\.self)
    }

    private func positions(in playback: Playback) -> [ScreenAction] {
        guard let duration = playback.track?.duration, duration > 0 else { return [] }
        return Self.parts.map { part in
            let position = duration / 4 * part.quarters
            let time = ScreenContent.Progress.text(ofMilliseconds: position)
            return ScreenAction("Go to \(part.label), \(time)", Command.SeekRequested(position: position))
        }
    }
}
