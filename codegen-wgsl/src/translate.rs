//! A shader in other languages, by naga's writers.

use crate::Shader;

impl Shader {
    /// Whether subgroups multiply matrices: of naga's writers those of SPIR-V from 1.3 on and of Metal's language from 2.3 on have these.
    #[cfg(any(feature = "spirv", feature = "msl", feature = "hlsl", feature = "glsl"))]
    fn has_matrices(&self) -> bool {
        let is_matrix = |ty: &naga::Type| matches!(ty.inner, naga::TypeInner::CooperativeMatrix { .. });
        self.module.types.iter().any(|(_, ty)| is_matrix(ty))
    }

    /// The SPIR-V words.
    ///
    /// # Errors
    /// naga's reason.
    #[cfg(feature = "spirv")]
    pub fn to_spirv(&self) -> Result<Vec<u32>, String> {
        let mut options = naga::back::spv::Options::default();
        if self.has_matrices() {
            options.lang_version = (1, 3);
        }
        naga::back::spv::write_vec(&self.module, &self.info, &options, None).map_err(|error| error.to_string())
    }

    /// Metal's shading language.
    ///
    /// # Errors
    /// naga's reason.
    #[cfg(feature = "msl")]
    pub fn to_msl(&self) -> Result<String, String> {
        use naga::back::msl;
        let mut options = msl::Options { fake_missing_bindings: true, ..msl::Options::default() };
        if self.has_matrices() {
            options.lang_version = (2, 3);
        }
        msl::write_string(&self.module, &self.info, &options, &msl::PipelineOptions::default())
            .map(|(text, _)| text)
            .map_err(|error| error.to_string())
    }

    /// Direct3D's shading language.
    ///
    /// # Errors
    /// naga's reason, and where subgroups multiply matrices.
    #[cfg(feature = "hlsl")]
    pub fn to_hlsl(&self) -> Result<String, String> {
        use naga::back::hlsl;
        if self.has_matrices() {
            return Err("matrices of subgroups are not written in HLSL".to_owned());
        }
        let mut text = String::new();
        let options = hlsl::Options { fake_missing_bindings: true, ..hlsl::Options::default() };
        let pipeline = hlsl::PipelineOptions::default();
        hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(&self.module, &self.info, None)
            .map_err(|error| error.to_string())?;
        Ok(text)
    }

    /// OpenGL's shading language, version 4.30.
    ///
    /// # Errors
    /// naga's reason, and where subgroups multiply matrices.
    #[cfg(feature = "glsl")]
    pub fn to_glsl(&self) -> Result<String, String> {
        use naga::back::glsl;
        if self.has_matrices() {
            return Err("matrices of subgroups are not written in GLSL".to_owned());
        }
        let mut text = String::new();
        let options = glsl::Options { version: glsl::Version::Desktop(430), ..glsl::Options::default() };
        let pipeline = glsl::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: self.entry_point.clone(),
            multiview: None,
        };
        glsl::Writer::new(
            &mut text,
            &self.module,
            &self.info,
            &options,
            &pipeline,
            naga::proc::BoundsCheckPolicies::default(),
        )
        .and_then(|mut writer| writer.write())
        .map_err(|error| error.to_string())?;
        Ok(text)
    }
}
