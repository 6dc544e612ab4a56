import ServiceRuntime
import Services

@main
struct MusicService {
    static func main() async { await MusicServiceCommand.runProgram() }
}
