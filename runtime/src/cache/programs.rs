//! Programs that were compiled before.

use super::{Cache, Kind, build, fingerprint};
use crate::program::bytes::VERSION;
use crate::program::compile_telling;
use crate::program::whole::{Kernels, read_with};
use crate::{Error, Options, Program, Watch};
use weft_codegen_wgsl::Shader;
use weft_hlo::ir::Module;
use weft_partition::Target;

/// A program, and where it comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cached {
    /// The program.
    pub program: Program,
    /// Whether it was kept, and so not compiled. Then it has no findings of [passes](Program::passes), and its diagnostics no places.
    pub is_found: bool,
}

impl Cache {
    /// The program that [`compile_with`](crate::compile_with) makes, if this very build of weft has kept it, or else compiled now and kept. It is known by the module's
    /// text, the target, the options, weft's version, and size and time of the running executable: whoever loads weft as a part of a shared
    /// library should give each build of that a folder of its own.
    ///
    /// Of what is kept nothing is proved or validated again: the folder is the user's own, and what is damaged is compiled anew. A folder that
    /// others may write to is not used. Programs of more than half of the bytes that the folder may have are not kept.
    ///
    /// # Errors
    /// As [`compile_with`](crate::compile_with). That nothing can be read or kept is no error.
    pub fn compile(&self, module: &Module, target: &Target, options: &Options) -> Result<Cached, Error> {
        self.compile_telling(module, target, options, None)
    }

    /// As [`compile`](Cache::compile), and tells a callback how many kernels are compiled, if they have to be.
    ///
    /// # Errors
    /// As there.
    pub fn compile_watched(
        &self,
        module: &Module,
        target: &Target,
        options: &Options,
        watch: &Watch,
    ) -> Result<Cached, Error> {
        self.compile_telling(module, target, options, Some(watch))
    }

    fn compile_telling(
        &self,
        module: &Module,
        target: &Target,
        options: &Options,
        watch: Option<&Watch>,
    ) -> Result<Cached, Error> {
        // A budget changes nothing of the program that is made.
        let whole = Options { memory_budget: None, ..options.clone() };
        let within = |program: Program, is_found: bool| {
            options.memory_budget.map_or(Ok(()), |budget| program.check_budget(budget))?;
            Ok(Cached { program, is_found })
        };
        let key = build::identity().filter(|_| self.is_private()).map(|build| key(module, target, &whole, &build));
        if let Some(program) = key.as_ref().and_then(|key| self.kept(key)) {
            return within(program, true);
        }
        let program = compile_telling(module, target, &whole, watch)?;
        if let Some(key) = key {
            self.keep(&key, &program);
        }
        within(program, false)
    }

    fn kept(&self, key: &Key) -> Option<Program> {
        let _span = tracing::debug_span!("load").entered();
        let content = self.read(Kind::Program, &key.name)?;
        let program = decode(key, &content);
        if let Err(reason) = &program {
            tracing::debug!(reason, "a program that was kept is compiled again");
        }
        program.ok()
    }

    fn keep(&self, key: &Key, program: &Program) {
        let _span = tracing::debug_span!("keep").entered();
        let kept = encode(key, program).and_then(|content| {
            if content.len() as u64 > self.max_bytes / 2 {
                return Err(format!("{} bytes are too many", content.len()));
            }
            self.write(Kind::Program, &key.name, &content).map_err(|error| error.to_string())
        });
        if let Err(reason) = kept {
            tracing::debug!(reason, "a program is not kept");
        }
    }
}

/// What a program is known by. Two that are made from different things may have one name; then one of them is compiled whenever it is asked for.
struct Key {
    /// Where it is found: a hash of 128 bits of what it is made from, and what a reader is told.
    name: String,
    /// What it is made from, which is kept with it and compared: module, options, target.
    made_from: String,
}

fn key(module: &Module, target: &Target, options: &Options, build: &str) -> Key {
    let made_from = format!("{module}\n{options:?}\n{target:?}");
    let (bytes, hash) = (made_from.len(), fingerprint(made_from.as_bytes()));
    let name: String = module.name.chars().filter(|c| !c.is_control()).take(80).collect();
    Key { name: format!("{name}, {bytes} bytes of {hash:032x}, by weft {VERSION} of {build}"), made_from }
}

/// A program: what it is made from, the text of all but its kernels, and those as they are stored, each behind its length in bytes.
fn encode(key: &Key, program: &Program) -> Result<Vec<u8>, String> {
    let text = program.written(false);
    let mut content = Vec::new();
    let mut put = |part: &[u8]| {
        content.extend((part.len() as u64).to_le_bytes());
        content.extend(part);
    };
    put(key.made_from.as_bytes());
    put(text.as_bytes());
    for shader in program.shaders() {
        put(&shader.to_bytes()?);
    }
    Ok(content)
}

fn decode(key: &Key, mut content: &[u8]) -> Result<Program, String> {
    let mut parts = Vec::new();
    while let Some((length, rest)) = content.split_first_chunk::<8>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let (part, rest) = length.and_then(|length| rest.split_at_checked(length)).ok_or("it is cut off")?;
        parts.push(part);
        content = rest;
    }
    let (made_from, parts) = parts.split_first().ok_or("it is empty")?;
    if *made_from != key.made_from.as_bytes() {
        return Err("it is another program of the same hash".to_owned());
    }
    let (text, shaders) = parts.split_first().ok_or("it is cut off")?;
    let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    #[cfg(feature = "parallel")]
    let shaders: Result<Vec<Shader>, String> = {
        use rayon::prelude::*;
        shaders.par_iter().map(|part| Shader::from_bytes(part)).collect()
    };
    #[cfg(not(feature = "parallel"))]
    let shaders: Result<Vec<Shader>, String> = shaders.iter().map(|part| Shader::from_bytes(part)).collect();
    read_with(text, Kernels::Given(shaders?)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_same_hash_is_not_taken_for_another() {
        let text = "HloModule one\nENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] negate(x) }";
        let module = weft_hlo::text::parse(text).expect("it is a module");
        let (target, options) = (Target::default(), Options::default());
        let program = compile_telling(&module, &target, &options, None).expect("it compiles");
        let own = key(&module, &target, &options, "this build");
        let content = encode(&own, &program).expect("it can be kept");
        assert_eq!(decode(&own, &content).map(|read| read.text()), Ok(program.text()));
        let other = Key { name: own.name, made_from: own.made_from.replace("negate", "exponential") };
        assert!(decode(&other, &content).is_err());
    }
}
